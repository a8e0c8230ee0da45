import { larger } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import type { AccountFunds } from '../../capabilities.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { recentSlot } from './recent.ts'
import { freshOf, readInteger } from './replies.ts'

/**
 * The balance that an account without data must keep, in lamports: 128 bytes of overhead, two years, 3480 lamports for each byte and year
 * (agave `Rent::default`). The network does not let a fee leave less (`InsufficientFundsForRent`).
 */
const RENT_EXEMPT_MINIMUM = 890_880n

/** Reads the amount that an account can spend, in lamports, without the minimum that it must keep; 0 for an account that does not exist. */
export async function readBalance(client: PooledClient, address: string): Promise<Answer<bigint>> {
  const funds = await readFunds(client, address)
  return funds.kind === 'ok' ? { kind: 'ok', value: funds.value.spendable } : funds
}

/** Reads the lamports of an account; an endpoint that has not reached the slot `asOf` cannot tell. */
export async function readFunds(
  client: PooledClient,
  address: string,
  asOf = 0n,
): Promise<Answer<AccountFunds>> {
  const call = { method: 'getBalance', params: [address, { commitment: 'confirmed' }] }
  const [endpointReply] = await client.sendAsOf([call], larger(asOf, recentSlot(client)))
  const answer = freshOf(endpointReply)
  if (answer.kind !== 'ok') return answer
  const lamports = readInteger(answer.value.value)
  if (lamports === undefined) return { kind: 'unknown', detail: 'the endpoint did not answer with a balance' }
  const spendable = larger(0n, lamports - RENT_EXEMPT_MINIMUM)
  const missingReserve = larger(0n, RENT_EXEMPT_MINIMUM - lamports)
  return { kind: 'ok', value: { spendable, missingReserve, exists: lamports > 0n } }
}
