"""The variables of the environment."""

from __future__ import annotations

import os

VARIABLES = {
    "CITEKIT_HOME": "the folder that holds maps, evidence and cache (default: the current folder)",
    "CITEKIT_MAPPER": "the mapper that `ingest` uses (default: auto)",
    "CITEKIT_MODEL": "the model that a mapper asks (default: the mapper's own)",
    "CITEKIT_BASE_URL": "where the model's service is reached, instead of its usual place",
    "CITEKIT_RETRIES": "how often a request is tried again where that may help (default: 3)",
    "CITEKIT_TIMEOUT": "seconds after which a request to a model (default: 300), or a mapper of your own, is given up",
    "CITEKIT_MAX_REQUESTS": "how many requests one map may cost (default: no bound)",
    "CITEKIT_TEMPERATURE": "the sampling temperature of a model, from 0 to 2 (default: the service's own)",
    "CITEKIT_THINKING": "how much a model thinks: minimal, low, medium, high, xhigh (default: the service's own)",
    "CITEKIT_MAX_OUTPUT": "how many tokens one answer of a model may have, thinking included (default: the service's own)",
    "CITEKIT_CACHE_LIMIT": "how large the evidence store may grow, as bytes or with K, M, G, T (default: 10G)",
    "CITEKIT_ROOTS": "folders that agents may read files in, and in which moved sources are looked for, "
    f"parted by {os.pathsep!r}",
    "CITEKIT_CLIENT_ROOTS": "on (default): agents may read files in the folders that their program offers; or off",
    "CITEKIT_CONCURRENCY": "how many files are mapped at once (default: the number of cores, at most 4)",
    "CITEKIT_MEDIA": "what copies clips: pyav (default), or ffmpeg for the program of that name",
    "CITEKIT_PASSWORD": "opens PDFs that are locked with it",
    "CITEKIT_PASSWORD_FILE": "a file that holds it, which nobody else may read",
    "CITEKIT_OCR": "on (default): with the extra ocr, the text of scans and pictures is read; or off",
    "CITEKIT_PARSERS": "apart (default): files are parsed in a child process, which may crash alone; or here",
    "CITEKIT_PARSER_TIMEOUT": "seconds without progress after which such a child is ended (default: 300)",
    "CITEKIT_PARSER_MEMORY": "how much memory such a child may take (default: 4G; at least 100M)",
    "CITEKIT_PARSER_CPU": "seconds of processor time for a file under 1 MB; larger files get more (default: 5)",
    "CITEKIT_PARSER_FILE_MEMORY": "memory for a file under 1 MB; larger files get more (default: 1G; at least 100M)",
    "GEMINI_API_KEY": "the key for the mapper gemini (else GOOGLE_API_KEY)",
    "GEMINI_API_KEY_FILE": "a file that holds it, which nobody else may read",
    "GOOGLE_API_KEY": "the key for the mapper gemini where GEMINI_API_KEY is not set",
    "GOOGLE_API_KEY_FILE": "a file that holds it, which nobody else may read",
    "OPENAI_API_KEY": "the key for the mapper openai",
    "OPENAI_API_KEY_FILE": "a file that holds it, which nobody else may read",
    "OPENAI_BASE_URL": "where the mapper openai reaches its service, where CITEKIT_BASE_URL is not set",
    "CALIBRE_LIBRARY_PATH": "the folder of the library: Calibre's, with its metadata.db, or any folder of books",
    "LOCAL_INGEST_PATH": "the folder of loose files that can be ingested (default: ~/Downloads)",
    "QDRANT_COLLECTION": "the collection that is asked, and ingested into (default: alexandria)",
    "CITEKIT_EMBEDDER": "whose vectors the library uses: fast (default), quality, minilm, multilingual, onnx:FOLDER, "
    "openai[:MODEL], gemini[:MODEL], hashing",
    "QDRANT_URL": "a Qdrant server, such as http://localhost:6333 (default: the embedded index)",
    "QDRANT_HOST": "the host of a Qdrant server, where QDRANT_URL is not set",
    "QDRANT_PORT": "its port (default: 6333)",
    "QDRANT_GRPC_PORT": "its port for gRPC (default: 6334)",
    "QDRANT_PREFER_GRPC": "1 to speak gRPC with it",
    "QDRANT_HTTPS": "1 to speak TLS with it, 0 not to (default: as the URL says; for a host, with an API key)",
    "QDRANT_API_KEY": "its API key",
    "QDRANT_API_KEY_FILE": "a file that holds it, which nobody else may read",
    "CITEKIT_QUANTIZATION": "how the index keeps vectors for the first look: int8 (default), none",
    "CITEKIT_INDEX_ON_DISK": "1 to leave vectors on the disk: less memory, slower",
    "CITEKIT_LIBRARY": "the folder that holds the embedded index and the ledger (default: .citekit_library in the home)",
    "ALEXANDRIA_DB": "the file of the ledger of ingested books (default: alexandria.db in that folder)",
    "GUARDIANS_DIR": "a folder of guardians and patterns of your own (default: docs/development/guardians in the home)",
    "CITEKIT_TOOLS": "what `serve` offers: citekit, alexandria, or both parted by a comma (default: what is configured)",
}
"""Every variable of the environment that is read here, and what it means."""
