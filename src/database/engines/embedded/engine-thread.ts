/**
 * The program of the thread in which the embedded database runs, so that the service answers requests while
 * the engine works and waits for the disk.
 */
import { parentPort } from 'node:worker_threads'
import { hostEngine } from './engine-host.ts'

if (parentPort === null) throw new Error('this program is the start of a thread')
hostEngine(parentPort)
