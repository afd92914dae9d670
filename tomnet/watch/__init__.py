"""An observer watches recorded agents: who resembles whom, what each will do, and which steps nobody expected.

watcher                 the contract: an agent's episodes in, a forecast of each from those before it out
pretrained, fitted      the observers of the zoo, and those that `tomnet fit` made
choice                  which of them watches
surprise                -log p of what was done, and where expectation was violated most
resemblance             where agents lie in the space of characters, and whether they fall into clusters
result                  what was found, as tables
run                     all of it
"""
