import { parentPort, workerData } from 'node:worker_threads'
import { startHostileReceivers } from './hostile-receiver.ts'

/** Runs the receivers in a thread of their own, so that the work of the attacker does not delay the service. */
const receivers = await startHostileReceivers(String(workerData))
parentPort?.postMessage(receivers.map(({ name, url }) => ({ name, url })))
parentPort?.on('message', () => {
  parentPort?.postMessage(receivers.map(({ connections }) => connections()))
})
