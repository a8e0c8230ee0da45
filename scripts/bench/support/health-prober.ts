import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Asks `GET /health` all the time from a thread of its own, which the load does not delay. */
export interface HealthProber {
  /** Ends it, and gives the time in ms of each answer. */
  stop(): Promise<number[]>
}

export function startHealthProber(port: number): HealthProber {
  const worker = new Worker(new URL('./health-prober-thread.ts', import.meta.url), { workerData: port })
  return {
    async stop() {
      worker.postMessage('stop')
      const [latencies] = (await once(worker, 'message')) as [number[]]
      await worker.terminate()
      return latencies
    },
  }
}
