"""Injectivity over all K^{dn} inputs in flat memory: every id is read back, input by input, shard by shard."""
