"""Drives the asynchronous clients with the calls of the synchronous ones, so that one test covers both.

The SDK's two families have the same methods. `Blocking` forwards a call to an asynchronous client and finishes what it
returns on an event loop: awaitables become their results, asynchronous iterators become iterators.
"""

import inspect


class Blocking:
    def __init__(self, target, loop):
        self._target = target
        self._loop = loop

    def __getattr__(self, name):
        attribute = getattr(self._target, name)
        if not callable(attribute):
            return attribute
        return lambda *args, **kwargs: _finish(attribute(*args, **kwargs), self._loop)


class BlockingIterator:
    """An asynchronous iterator of entities, of pages or of the entities of a page."""

    def __init__(self, target, loop):
        self._target = target
        self._loop = loop
        self._iterator = None

    def __iter__(self):
        self._iterator = self._target.__aiter__()
        return self

    def __next__(self):
        if self._iterator is None:
            self.__iter__()
        try:
            item = self._loop.run_until_complete(self._iterator.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None
        return _finish(item, self._loop)

    def by_page(self, *args, **kwargs):
        return BlockingIterator(self._target.by_page(*args, **kwargs), self._loop)

    @property
    def continuation_token(self):
        return self._target.continuation_token


def _finish(result, loop):
    if inspect.isawaitable(result):
        return _finish(loop.run_until_complete(result), loop)
    if hasattr(result, "__aiter__"):
        return BlockingIterator(result, loop)
    if hasattr(result, "table_name") and hasattr(result, "create_entity"):
        return Blocking(result, loop)
    return result
