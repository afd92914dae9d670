"""What experiments share to look at agents, embeddings and beliefs."""
