import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/time.ts'
import type { Network } from './network.ts'

/** Reads the decimals of a token from its chain; undefined if it does not say them. */
type ReadDecimals = (token: string) => Promise<number | undefined>

/**
 * Returns the decimals of a token, as far as they are known already; they are asked for in the background.
 */
export type DecimalsOf = (token: string) => number | undefined

/** The decimals that the tokens of each network state. */
export interface TokenDecimals {
  of(network: Network, read: ReadDecimals): DecimalsOf
}

/**
 * The memory holds this many tokens of a network; those that are forgotten are read from the database again.
 */
const MAX_KNOWN = 10_000

/**
 * This many tokens wait for their turn; others are asked for when they are shown again. Anyone can make a
 * transaction that names many tokens, and each of them costs a call.
 */
const MAX_WAITING = 100

/** A token that says nothing is asked again after this time in ms, and after twice as long each time. */
const FIRST_PAUSE_MS = 600_000
const LONGEST_PAUSE_MS = 86_400_000

/** The knowledge about a token. */
type Known = { readonly decimals: number } | { readonly pauseMs: number; readonly askAgainAt: number }

interface Options {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Remembers the decimals of tokens, which are read from the chain once and then kept in the database. One
 * after the other is asked, when it is shown, and no one waits for the answer: until then, and for a token
 * that says nothing, amounts are in the smallest unit.
 */
export function createTokenDecimals({ db, clock, log }: Options): TokenDecimals {
  const waiting = new Map<string, () => Promise<void>>()
  let isBusy = false

  async function askAll(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (const [key, ask] of waiting) {
      await ask()
      waiting.delete(key)
    }
    isBusy = false
  }

  return {
    of: (network, read) => {
      const known = new BoundedMap<string, Known>(MAX_KNOWN)

      async function ask(token: string): Promise<void> {
        const before = known.get(token)
        const pauseMs =
          before && 'pauseMs' in before ? Math.min(before.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS
        known.set(token, { pauseMs, askAgainAt: clock.monotonic() + pauseMs })
        try {
          const decimals = (await findDecimals(db, network, token)) ?? (await readAndKeep(token))
          if (decimals !== undefined) known.set(token, { decimals })
        } catch (error) {
          log.debug({ err: error, token }, 'token decimals were not read')
        }
      }

      async function readAndKeep(token: string): Promise<number | undefined> {
        const decimals = await read(token)
        return decimals === undefined ? undefined : keepDecimals(db, network, { token, decimals })
      }

      return (token) => {
        const found = known.get(token)
        if (found !== undefined && 'decimals' in found) return found.decimals
        if (found !== undefined && clock.monotonic() < found.askAgainAt) return undefined
        const key = `${network.type} ${network.name} ${token}`
        if (waiting.size >= MAX_WAITING || waiting.has(key)) return undefined
        waiting.set(key, () => ask(token))
        void askAll()
        return undefined
      }
    },
  }
}

type NetworkName = Pick<Network, 'type' | 'name'>

/** Reads the decimals of a token that were kept; undefined if there are none. */
async function findDecimals(db: Db, { type, name }: NetworkName, token: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('token_decimals')
    .select('decimals')
    .where('network_type', '=', type)
    .where('network', '=', name)
    .where('token', '=', token)
    .executeTakeFirst()
  return row?.decimals
}

/** Keeps the decimals of a token, unless another process already has, and returns those that are kept. */
async function keepDecimals(
  db: Db,
  network: NetworkName,
  { token, decimals }: { readonly token: string; readonly decimals: number },
): Promise<number> {
  const { type, name } = network
  await sql`
    insert into token_decimals (network_type, network, token, decimals)
    values (${type}, ${name}, ${token}, ${decimals}) on conflict do nothing`.execute(db)
  return (await findDecimals(db, network, token)) ?? decimals
}
