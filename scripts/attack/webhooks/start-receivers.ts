import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Hostile receivers of every manner, in a thread of their own. */
export interface HostileReceivers {
  readonly receivers: readonly { readonly name: string; readonly url: string }[]
  /** Returns the connections so far of each receiver, in their order. */
  connections(): Promise<readonly number[]>
  stop(): Promise<void>
}

/** Starts them; redirects lead to `elsewhere`. */
export async function startReceivers(elsewhere: string): Promise<HostileReceivers> {
  const worker = new Worker(new URL('./receiver-thread.ts', import.meta.url), { workerData: elsewhere })
  const [receivers] = (await once(worker, 'message')) as [HostileReceivers['receivers']]
  return {
    receivers,
    async connections() {
      const answer = once(worker, 'message')
      worker.postMessage('connections')
      const [counts] = (await answer) as [readonly number[]]
      return counts
    },
    async stop() {
      await worker.terminate()
    },
  }
}
