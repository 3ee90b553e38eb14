"""The ground that all rooms share: errors, files, tables, queries, the store, manifests."""
