"""Lists the environment variables, also for docs/reference/settings.md."""

from __future__ import annotations

VARIABLES = {
    "CITEKIT_HOME": "the folder for maps, evidence, and the cache, or @personal for the personal home (default: the "
    "current folder; for commands, the personal home if it exists and the current folder is not a home)",
    "CITEKIT_STORE": "the store in which machines share maps, texts, and evidence: s3://BUCKET/PREFIX, gs://..., az://..., "
    "or the absolute path of a shared folder (default: the home); set credentials only in the service's own variables",
    "CITEKIT_STORE_LINKS": "on to let `serve --http` redirect downloads of evidence of 1 MB or more to links of the store's "
    "service that expire after 5 minutes, or off (default)",
    "CITEKIT_LINK_KEY": "a random secret of at least 32 characters that several HTTP servers share, so that each accepts "
    "the links to evidence that the others created (default: one for each home)",
    "CITEKIT_LINK_KEY_FILE": "a file that contains the value of CITEKIT_LINK_KEY and that only its owner can access",
    "CITEKIT_DATABASE": "the PostgreSQL database with the ledger of ingested books and, with CITEKIT_STORE, the list of "
    "resources and the indexes of nodes, texts, and pages: postgresql://USER@HOST/DATABASE, without a password "
    "(default: files in the home)",
    "CITEKIT_MAPPER": "the mapper that `ingest` uses (default: auto)",
    "CITEKIT_MODEL": "the model that the mapper uses (default: the mapper's default)",
    "CITEKIT_BASE_URL": "the base URL of the model service (default: the mapper's default)",
    "CITEKIT_RETRIES": "the number of retries after a failed request to a model (default: 3)",
    "CITEKIT_TIMEOUT": "the seconds to wait for data from a model (default: 300; for embeddings and a rerank server: 60), "
    "or for a custom mapper or adapter (default: no limit)",
    "CITEKIT_MAX_REQUESTS": "the maximum number of requests per map (default: 100 for the parts of a file, and no limit for "
    "corrections and retries), or per answer of `ask`, not counting that of the reranker `model` (default: no limit)",
    "CITEKIT_TEMPERATURE": "the sampling temperature of the model, from 0 to 2 (default: the service's default)",
    "CITEKIT_THINKING": "how much the model thinks before it answers: minimal, low, medium, high, or xhigh (default: the "
    "service's default)",
    "CITEKIT_MAX_OUTPUT": "the maximum number of tokens in one answer, including thinking (default: the service's default)",
    "CITEKIT_CACHE_LIMIT": "the maximum size of the evidence store, in bytes or with K, M, G, or T (default: 10G)",
    "CITEKIT_ROOTS": "folders in which agents can read files and CiteKit searches for moved sources, separated by ':' "
    "(on Windows, by ';')",
    "CITEKIT_CLIENT_INGEST": "on (default) to let agents map files in the home (unless it is your home directory or a folder "
    "above it), in CITEKIT_ROOTS, in the folders that their MCP client offers, and, with the library tools, in the library "
    "folders; or off",
    "CITEKIT_CLIENT_ROOTS": "on (default) to let agents read files in the folders that their MCP client offers, or off",
    "CITEKIT_CONCURRENCY": "the number of files to map at the same time (default: the number of cores, at most 4); with a "
    "model, at least CITEKIT_MODEL_CONCURRENCY",
    "CITEKIT_MODEL_CONCURRENCY": "the maximum number of concurrent requests to a model (default: 8)",
    "CITEKIT_MEDIA": "the driver that extracts clips: pyav (default), or ffmpeg for the ffmpeg program",
    "CITEKIT_PASSWORD": "the password for locked PDFs",
    "CITEKIT_PASSWORD_FILE": "a file that contains the value of CITEKIT_PASSWORD and that only its owner can access",
    "CITEKIT_OCR": "on (default) to read the text in scans, images, and videos if the extra ocr is installed, or off",
    "CITEKIT_SPEECH": "on (default) to recognize the speech in recordings without subtitles if the extra speech and a "
    "model are installed or CITEKIT_SPEECH_MODEL names a service; always to also recognize it in recordings with "
    "subtitles, whose words then have exact times; or off",
    "CITEKIT_SPEECH_MODEL": "the folder with a Whisper model for faster-whisper; the name of an installed model "
    "(default: an installed one for all languages); openai:MODEL to send the sound of recordings to OpenAI, or to the server "
    "at CITEKIT_SPEECH_URL; or gemini:MODEL to send it to Gemini",
    "CITEKIT_SPEECH_SECONDS": "with openai:MODEL or gemini:MODEL, the maximum number of seconds of sound that are sent "
    "for each recording (default: no limit)",
    "CITEKIT_SPEECH_URL": "with openai:MODEL or gemini:MODEL, the base URL of the service that recognizes speech (default: "
    "CITEKIT_BASE_URL, or for openai also OPENAI_BASE_URL)",
    "CITEKIT_SPEAKERS": "on (default) to divide speech that a local model recognized into the turns of its speakers, or off",
    "CITEKIT_SPEECH_LANGUAGE": "the language of all recordings (ISO 639-1), such as en (default: detected)",
    "CITEKIT_MODELS_URL": "the base URL of a copy of Hugging Face from which `citekit models get` downloads "
    "(default: https://huggingface.co)",
    "CITEKIT_PARSERS": "subprocess (default) to parse files in child processes, which isolates crashes, or "
    "inline to parse them in the main process",
    "CITEKIT_PARSER_TIMEOUT": "the seconds without progress after which a parser process is terminated (default: 300)",
    "CITEKIT_PARSER_MEMORY": "the maximum memory of a parser process (default: 4G; at least 100M)",
    "CITEKIT_PARSER_CPU": "the maximum CPU time in seconds for parsing a file of up to 500 kB; larger files, recordings, "
    "and text recognition get more (default: 5)",
    "CITEKIT_PARSER_FILE_MEMORY": "the maximum memory for parsing a file under 1 MB; larger files get more "
    "(default: 1G; at least 100M)",
    "GEMINI_API_KEY": "the API key for Gemini, which can map files, embed texts, answer questions, and recognize speech",
    "GEMINI_API_KEY_FILE": "a file that contains the value of GEMINI_API_KEY and that only its owner can access",
    "GOOGLE_API_KEY": "the API key for Gemini if GEMINI_API_KEY is not set",
    "GOOGLE_API_KEY_FILE": "a file that contains the value of GOOGLE_API_KEY and that only its owner can access",
    "OPENAI_API_KEY": "the API key for OpenAI or a compatible server, which can do the same as Gemini",
    "OPENAI_API_KEY_FILE": "a file that contains the value of OPENAI_API_KEY and that only its owner can access",
    "OPENAI_BASE_URL": "the base URL of OpenAI or a compatible server if CITEKIT_BASE_URL is not set",
    "CALIBRE_LIBRARY_PATH": "the folder of the library: a Calibre library with its metadata.db, or any folder of books",
    "LOCAL_INGEST_PATH": "a folder outside the library from which agents can ingest files (default: ~/Downloads)",
    "QDRANT_COLLECTION": "the collection for queries and ingested books (default: alexandria)",
    "CITEKIT_EMBEDDER": "the embedder of the library: fast (default), quality, minilm, multilingual, onnx:FOLDER, "
    "openai[:MODEL], gemini[:MODEL], or hashing",
    "CITEKIT_RERANKER": "the reranker, which compares a question with the best pages: features (default), "
    "onnx:FOLDER (a cross-encoder), server:MODEL, or model (the model of the mapper)",
    "CITEKIT_RERANKER_URL": "the base URL of the rerank server, such as http://localhost:8000/v1",
    "CITEKIT_RERANKER_KEY": "the API key of the rerank server",
    "CITEKIT_RERANKER_KEY_FILE": "a file that contains the value of CITEKIT_RERANKER_KEY and that only its owner can access",
    "QDRANT_URL": "the URL of a Qdrant server, such as http://localhost:6333 (default: the embedded index)",
    "QDRANT_HOST": "the host of the Qdrant server if QDRANT_URL is not set",
    "QDRANT_PORT": "the HTTP port of the Qdrant server (default: 6333)",
    "QDRANT_GRPC_PORT": "the gRPC port of the Qdrant server (default: 6334)",
    "QDRANT_PREFER_GRPC": "1 to use gRPC for the Qdrant server",
    "QDRANT_HTTPS": "with QDRANT_HOST, 1 to use TLS or 0 not to (default: TLS if an API key is set and the host is "
    "another computer); with QDRANT_URL, the URL decides",
    "QDRANT_API_KEY": "the API key of the Qdrant server",
    "QDRANT_API_KEY_FILE": "a file that contains the value of QDRANT_API_KEY and that only its owner can access",
    "CITEKIT_QUANTIZATION": "the quantization of vectors in the index: int8 (default) or none",
    "CITEKIT_INDEX_ON_DISK": "1 to leave vectors on disk, which is slower but needs less memory",
    "CITEKIT_LIBRARY": "the folder for the embedded index and the ledger (default: .citekit_library in the home)",
    "ALEXANDRIA_DB": "the ledger file of ingested books (default: alexandria.db in the folder CITEKIT_LIBRARY)",
    "GUARDIANS_DIR": "a folder of custom guardians and patterns (default: docs/development/guardians in the home)",
    "CITEKIT_TOOLS": "the tools that `serve` offers: citekit, alexandria, or both, separated by a comma (default: "
    "citekit, or both if a library is configured or has books)",
}
"""The environment variables and their descriptions."""
