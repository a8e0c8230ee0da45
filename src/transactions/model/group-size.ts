/**
 * The most transactions that one statement or one loop of the watcher handles. A block may hold thousands, and requests would wait for the
 * one session of the embedded database, and for this thread, until all of them are done. Smaller groups cost more commits.
 */
export const GROUP_SIZE = 200
