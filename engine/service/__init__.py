"""The engine as a service: HTTP and WebSocket, for programs in any language.

``cutnode serve`` starts it (:mod:`engine.cli.serve`).  It needs the packages of the extra
``serve``; nothing else in ``engine`` does.

| module | what |
|---|---|
| ``settings`` | what a service allows |
| ``models`` | what is asked and answered: the JSON of every route |
| ``catalogue`` | which games there are, by the names that clients write |
| ``tasks`` | from a request to a call of an engine, and from its result to an answer |
| ``pool`` | engines, how many search at once, who waits, and what that takes in memory |
| ``failures`` | what a client is told when there is no answer |
| ``app``, ``streams``, ``sockets`` | the routes; lines of JSON; the conversation over a WebSocket |
| ``guard`` | what protects it from requests that are large and clients that are slow |
| ``metrics`` | what it counts |
| ``server`` | the process: its socket, its start, and how it ends |
"""
