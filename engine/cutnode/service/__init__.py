"""The engine as a service: HTTP and WebSocket, for programs in any language.

``cutnode serve`` starts it (:mod:`cutnode.cli.serve`).  It needs the packages of the extra
``serve``; nothing else in ``engine`` does.

| module | what |
|---|---|
| ``settings`` | the limits of a service |
| ``models`` | the JSON of every route: requests, answers, events |
| ``games`` | the games, by the names that clients write |
| ``questions`` | from a request to a call of an engine, and from its result to an answer |
| ``views`` | what there is to see without an engine: boards, positions, small trees |
| ``pool`` | the searches that run and wait, and the memory of their engines |
| ``code`` | the compiled code, and of how many games |
| ``failures`` | the errors that are answered |
| ``state`` | what all routes share |
| ``app``, ``streams``, ``sockets`` | the routes; lines of JSON; the conversation over a WebSocket |
| ``pages``, ``web`` | the board in the browser: its routes and its files |
| ``hosts`` | protection from pages of other sites |
| ``limits`` | protection from large requests and slow clients |
| ``metrics`` | counts and times, for Prometheus |
| ``server`` | the process: its socket, its start, and how it ends |
"""
