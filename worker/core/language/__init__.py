"""Words of a language: cleaning of case, segmentation, dictionaries and the rules of decoding."""
