import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { drive, times } from './load.ts'
import { sendRequest } from './stage.ts'

interface PacedSends {
  readonly port: number
  readonly count: number
  /** Time in ms between an answer and the next send. */
  readonly pauseMs: number
}

/**
 * Sends one after the other from a thread of its own, which other load does not delay, and returns how long
 * each took, in ms.
 */
export async function sendPaced(options: PacedSends): Promise<number[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options })
  const [latencies] = (await once(worker, 'message')) as [number[]]
  await worker.terminate()
  return latencies
}

if (!isMainThread) {
  const { port, count, pauseMs } = workerData as PacedSends
  const latencies: number[] = []
  await drive({
    port,
    request: sendRequest(),
    connections: 1,
    more: times(count),
    onAnswer: (ms) => latencies.push(ms),
    pauseMs,
  })
  parentPort?.postMessage(latencies)
}
