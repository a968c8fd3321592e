"""How a step that failed is tried again: isolation of a record, of a rebuild, faults and parking."""
