import { join } from 'node:path'
import type { Anvil } from '../../../test/support/anvil.ts'
import { startProcess } from '../../../test/support/process.ts'
import { callService } from '../../../test/support/service.ts'
import { type Row, single } from '../measurement.ts'
import { folderMb } from '../support/folder-size.ts'
import {
  BODY,
  confirmed,
  nonce,
  pause,
  send,
  transactionsOf,
  WITHOUT_LIMITS,
  withAnvil,
  withFolder,
} from '../support/stage.ts'

/** Time in ms from the begin of the last load until the kill. */
const UNTIL_KILL_MS = 3_000

/** Time in ms between two looks at the size of the log. */
const LOOK_MS = 500

interface Place {
  readonly anvil: Anvil
  readonly folder: string
}

/** A service with many stored transactions is killed while it sends, and started again, with the embedded database. */
export async function benchRestart({ stored }: { stored: number }): Promise<Row[]> {
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const { lost, longestLogMb } = await fillAndKill({ anvil, folder }, stored)
      const acceptedAfterMs = await timeUntilAccepted({ anvil, folder })
      const what = `kill -9 under load, ${stored} transactions stored, embedded`
      return [
        single(`${what}: until a request is accepted again`, acceptedAfterMs, { unit: 'ms', limit: 3_000 }),
        single(`${what}: longest log (pg_wal)`, longestLogMb, { unit: 'MB', limit: 64 }),
        single(`send embedded, ${stored} transactions: lost`, lost, { unit: '', limit: 0 }),
      ]
    }),
  )
}

async function fillAndKill({ anvil, folder }: Place, stored: number) {
  const service = await startProcess({ rpcUrl: anvil.url, folder, env: WITHOUT_LIMITS })
  const log = watchSize(join(folder, 'data/pglite/pg_wal'))
  try {
    await send(service, stored)
    await confirmed(service, stored)
    const lost = stored - (await nonce(anvil, 'latest'))
    const load = send(service, stored).catch(() => {})
    await pause(UNTIL_KILL_MS)
    await service.kill()
    await load
    return { lost, longestLogMb: await log.stop() }
  } finally {
    await service.kill()
  }
}

async function timeUntilAccepted({ anvil, folder }: Place): Promise<number> {
  const start = performance.now()
  const service = await startProcess({ rpcUrl: anvil.url, folder, env: WITHOUT_LIMITS })
  try {
    const path = transactionsOf('main')
    const { status } = await callService(service.url, { method: 'POST', path, body: BODY })
    if (status !== 200) throw new Error(`the restarted service answered ${status}`)
    return performance.now() - start
  } finally {
    await service.terminate()
  }
}

/** Looks at the size of a folder all the time; `stop` gives the largest, in MB. */
function watchSize(folder: string): { stop(): Promise<number> } {
  const stopping = new AbortController()
  const watching = (async () => {
    let largest = 0
    while (!stopping.signal.aborted) {
      largest = Math.max(largest, await folderMb(folder))
      await pause(LOOK_MS)
    }
    return Math.max(largest, await folderMb(folder))
  })()
  return {
    stop: () => {
      stopping.abort()
      return watching
    },
  }
}
