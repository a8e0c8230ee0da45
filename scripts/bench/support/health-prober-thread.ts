/** The thread of health-prober.ts: asks the service at the port in `workerData` until it gets a message. */
import { parentPort, workerData } from 'node:worker_threads'
import { API_KEY } from '../../../test/support/service.ts'
import { drive, requestBytes } from './load.ts'

/** Time in ms between an answer and the next question, so that the questions are no load of their own. */
const PAUSE_MS = 10

let stopped = false
parentPort?.once('message', () => {
  stopped = true
})
const latencies: number[] = []
await drive({
  port: workerData as number,
  request: requestBytes('GET', '/api/v1/health', { key: API_KEY }),
  connections: 1,
  more: () => !stopped,
  pauseMs: PAUSE_MS,
  onAnswer: (ms) => latencies.push(ms),
})
parentPort?.postMessage(latencies)
