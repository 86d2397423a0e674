"""The links that add CiteKit to a client are what the client table says now."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.adapters.clients.settings_files import FileMcpClients
from citekit.domain.mcp_clients import ServerEntry

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "connect-an-agent.md"


@pytest.mark.parametrize("client", ["cursor", "vscode", "lm-studio"])
def test_the_page_has_the_link_of_the_client(client: str) -> None:
    clients = FileMcpClients({}, Path("/"))
    entry = ServerEntry(name="citekit", command="citekit", arguments=("serve", "--home", "@personal"))

    assert f"[{clients.title(client)}]({clients.link(client, entry)})" in PAGE.read_text("utf-8")
