import type { Clock } from '../../lib/time/clock.ts'
import type { SignerHealth } from '../signer.ts'
import { isSignerFault } from '../signer-fault.ts'

/** A good answer counts for this long, in ms: relayers that share a key ask at about the same time, and services charge for calls. */
const GOOD_FOR_MS = 20_000

interface RemoteHealthDeps {
  readonly clock: Clock
  /** Compares the public key of the service with the known one. Rejects with a signer fault. */
  readonly compare: () => Promise<void>
  /** Signs something that is no transaction. Rejects with a signer fault. */
  readonly prove: () => Promise<void>
}

/** The state of one key, as its calls and checks find it. */
export interface RemoteHealth {
  /** Tells the result of a signature: undefined for a good one. */
  note(error: unknown): void
  check(): Promise<SignerHealth>
}

/** Creates the state. After a refusal only a signature proves that the key signs again: reading the public key is another permission. */
export function createRemoteHealth({ clock, compare, prove }: RemoteHealthDeps): RemoteHealth {
  let isRefused = false
  let goodUntil = Number.NEGATIVE_INFINITY
  let running: Promise<SignerHealth> | undefined

  function note(error: unknown): void {
    if (error === undefined) {
      isRefused = false
      return
    }
    goodUntil = Number.NEGATIVE_INFINITY
    if (isSignerFault(error) && error.code === 'signer_refused') isRefused = true
  }

  async function ask(): Promise<SignerHealth> {
    try {
      await compare()
      if (isRefused) await prove()
      isRefused = false
      goodUntil = clock.monotonic() + GOOD_FOR_MS
      return { kind: 'ok' }
    } catch (error) {
      note(error)
      if (!isSignerFault(error)) return { kind: 'unknown', detail: 'The check of the key failed.' }
      return { kind: error.code === 'signer_refused' ? 'refused' : 'unknown', detail: error.detail }
    }
  }

  return {
    note,
    check: () => {
      if (clock.monotonic() < goodUntil) return Promise.resolve({ kind: 'ok' })
      running ??= ask().finally(() => {
        running = undefined
      })
      return running
    },
  }
}
