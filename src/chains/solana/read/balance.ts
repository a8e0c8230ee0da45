import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Answer } from '../../answer.ts'
import type { AccountFunds } from '../../capabilities.ts'
import { createRecentAnswer } from '../../recent-answer.ts'
import type { PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { recentSlot } from './recent.ts'
import { freshOf, readInteger, resultOf } from './replies.ts'

/**
 * The balance that an account without data must keep where no node tells it, in lamports: 128 bytes of overhead, two years, 3480 lamports for
 * each byte and year (agave `Rent::default`). The network does not let a fee leave less (`InsufficientFundsForRent`), and lowers it in steps
 * (SIMD-0437), so this is never too little.
 */
const HIGHEST_MINIMUM = 890_880n

/** The minimum changes with an epoch, so an older answer is asked for again after this time, in ms. */
const MINIMUM_FRESH_FOR_MS = 600_000

/** The minimum for an account without data. */
const MINIMUM: RpcCall = { method: 'getMinimumBalanceForRentExemption', params: [0] }

/** Reads the funds of accounts. */
export interface FundsReader {
  /** Reads the lamports of an account; an endpoint that has not reached the slot `asOf` cannot tell. */
  readFunds(address: string, asOf?: bigint): Promise<Answer<AccountFunds>>
  /** Reads the amount that an account can spend, in lamports, without the minimum that it must keep; 0 for an account that does not exist. */
  readBalance(address: string): Promise<Answer<bigint>>
}

/** Creates a reader of funds, which asks for the minimum of the network from time to time. */
export function createFundsReader(client: PooledClient, clock: Clock): FundsReader {
  const minimum = createRecentAnswer({
    ask: () => askMinimum(client),
    clock,
    freshForMs: MINIMUM_FRESH_FOR_MS,
  })

  async function readFunds(address: string, asOf = 0n): Promise<Answer<AccountFunds>> {
    const call = { method: 'getBalance', params: [address, { commitment: 'confirmed' }] }
    const [[endpointReply], told] = await Promise.all([
      client.sendAsOf([call], larger(asOf, recentSlot(client))),
      minimum.read(),
    ])
    const answer = freshOf(endpointReply)
    if (answer.kind !== 'ok') return answer
    const lamports = readInteger(answer.value.value)
    if (lamports === undefined)
      return { kind: 'unknown', detail: 'the endpoint did not answer with a balance' }
    const kept = told.kind === 'ok' ? told.value : HIGHEST_MINIMUM
    const spendable = larger(0n, lamports - kept)
    const missingReserve = larger(0n, kept - lamports)
    return { kind: 'ok', value: { spendable, missingReserve, exists: lamports > 0n } }
  }

  return {
    readFunds,
    readBalance: async (address) => {
      const funds = await readFunds(address)
      return funds.kind === 'ok' ? { kind: 'ok', value: funds.value.spendable } : funds
    },
  }
}

async function askMinimum(client: PooledClient): Promise<Answer<bigint>> {
  const [endpointReply] = await client.sendAsOf([MINIMUM])
  const result = resultOf(endpointReply?.reply)
  const lamports = result.kind === 'ok' ? readInteger(result.value) : undefined
  return lamports === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not tell the minimum of an account' }
    : { kind: 'ok', value: lamports }
}
