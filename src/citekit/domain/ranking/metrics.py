"""Lists the items from which financial metrics are computed, because statements name these items and not the metric.

The definitions are from accounting textbooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_CURRENT = "total current assets total current liabilities"
_PROPERTY = "purchases of property plant and equipment"

METRICS: Mapping[str, str] = {
    "capex": f"capital expenditures {_PROPERTY}",
    "capital expenditure": _PROPERTY,
    "capital expenditures": _PROPERTY,
    "operating cash flow ratio": "net cash provided by operating activities total current liabilities",
    "operating cash flow": "net cash provided by operating activities",
    "capital intensive": f"property plant and equipment net total assets net sales revenue {_PROPERTY}",
    "capital intensity": f"property plant and equipment net total assets net sales revenue {_PROPERTY}",
    "fixed asset turnover": "property plant and equipment net sales revenue",
    "ppne": "property plant and equipment net total assets",
    "pp&e": "property plant and equipment net total assets",
    "cogs": "cost of goods sold cost of sales",
    "d&a": "depreciation amortization",
    "free cash flow": f"net cash provided by operating activities {_PROPERTY}",
    "current ratio": _CURRENT,
    "working capital": _CURRENT,
    "quick ratio": f"inventories {_CURRENT}",
    "gross margin": "gross profit cost of sales revenue",
    "gross profit": "cost of sales net sales",
    "operating margin": "operating income net sales revenue",
    "net margin": "net income net sales revenue",
    "net profit margin": "net income net sales revenue",
    "profit margin": "net income net sales revenue",
    "ebitda": "operating income depreciation amortization",
    "ebit": "operating income",
    "eps": "earnings per share basic diluted",
    "return on assets": "net income total assets",
    "roa": "net income total assets",
    "return on equity": "net income shareholders equity",
    "roe": "net income shareholders equity",
    "asset turnover": "net sales total assets",
    "inventory turnover": "cost of goods sold inventories",
    "days inventory outstanding": "cost of goods sold inventories",
    "dio": "cost of goods sold inventories",
    "receivables turnover": "accounts receivable net sales",
    "days sales outstanding": "accounts receivable net sales",
    "dso": "accounts receivable net sales",
    "payables turnover": "accounts payable cost of goods sold",
    "days payable outstanding": "accounts payable cost of goods sold",
    "dpo": "accounts payable cost of goods sold",
    "cash conversion cycle": "inventories accounts receivable accounts payable cost of goods sold",
    "debt to equity": "total debt total shareholders equity",
    "net debt": "long-term debt cash and cash equivalents",
    "interest coverage": "interest expense operating income",
    "dividend payout": "dividends paid net income",
    "effective tax rate": "provision for income taxes income before income taxes",
}
_GAP = r"[\s-]+"
_NAMES = re.compile(
    rf"(?<!\w)(?:{'|'.join(name.replace(' ', _GAP) for name in sorted(METRICS, key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)


def ingredients(question: str) -> Iterator[str]:
    """Yield the items from which each metric in the question is computed, in the words of financial statements."""
    for name in _NAMES.findall(question):
        yield METRICS[" ".join(re.split(_GAP, name.lower()))]
