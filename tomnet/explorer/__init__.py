"""`tomnet explore`: a page on which people draw worlds, watch agents and ask observers.

app          what can be asked for, by address; `guard` stands at the door, `turns` lets the newest question win
requests     every field that the page may send, with its limits
texts        episodes as the page writes them, which is the text format of recordings
observers    pretrained observers, loaded once, and what they make of an agent
beside       the exact observer and the agent itself, for comparison
acting       agents let loose on a level
known_agents the map of known agents, drawn once for every observer of the zoo and kept there
reading      somebody's own episode, to be stepped through
catalogue    who and what there is to choose from; `scenes` are ready to be looked at
serve        the server on this machine, until Ctrl-C
export       the page as a folder of files without a server; `static_observer` is an observer as a script for it
page/        plain HTML, CSS and JavaScript: no build step, nothing fetched from elsewhere
"""
