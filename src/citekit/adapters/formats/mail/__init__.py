"""The adapter for mail: single messages (.eml) and mailboxes (.mbox)."""
