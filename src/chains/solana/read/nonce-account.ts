import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { Timeouts } from '../timeouts.ts'
import { encodeBase58 } from '../wire/base58.ts'
import { SYSTEM_PROGRAM } from '../wire/programs.ts'
import { type AccountState, type Commitment, readAccounts } from './account-state.ts'

/** The present value of a durable nonce, and its authority. */
export interface NonceState {
  readonly value: string
  readonly authority: string
}

/**
 * `nonce::state::Versions` in bincode: version and state (1: initialized) in four bytes each, the authority, the value, and the price of a
 * signature.
 */
const NONCE_BYTES = 80
const INITIALIZED = 1

/** The content of a nonce account in this slot; without a state when the account does not exist any more. */
export interface NonceReading {
  readonly slot: bigint
  readonly state: NonceState | undefined
}

/** Reads a nonce account, with the commitment `confirmed` by default. */
export async function readNonce(
  client: PooledClient,
  address: string,
  commitment?: Commitment,
): Promise<Answer<NonceReading>> {
  const answer = await readAccounts(client, [address], commitment)
  if (answer.kind !== 'ok') return answer
  const { slot, accounts } = answer.value
  return { kind: 'ok', value: { slot, state: stateIn(accounts[0]) } }
}

/** A nonce, and the confirmed slot in which the account contained it. */
export interface NonceFound extends NonceState {
  readonly slot: bigint
}

/** Reads the nonce that a transaction advances; refuses when there is none. */
export async function requireNonce(
  { client, timeouts }: { readonly client: PooledClient; readonly timeouts: Timeouts },
  address: string,
): Promise<Answer<NonceFound>> {
  const reading = await readNonce(client, address)
  if (reading.kind !== 'ok') return reading
  const { slot, state } = reading.value
  if (state !== undefined) return { kind: 'ok', value: { ...state, slot } }
  if (!timeouts.isOver(`nonce account ${address}`))
    return { kind: 'unknown', detail: `${address} is no nonce account yet` }
  const detail = `The transaction advances a durable nonce, but ${address} is no initialized nonce account.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

function stateIn(account: AccountState | undefined): NonceState | undefined {
  const data = Buffer.from(account?.data ?? [])
  if (account?.owner !== SYSTEM_PROGRAM || data.length !== NONCE_BYTES) return undefined
  if (data.readUInt32LE(4) !== INITIALIZED) return undefined
  return { authority: encodeBase58(data.subarray(8, 40)), value: encodeBase58(data.subarray(40, 72)) }
}
