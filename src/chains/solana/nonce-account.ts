import type { Answer } from '../answer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { readAccounts } from './account-state.ts'
import { encodeBase58 } from './base58.ts'
import { SYSTEM_PROGRAM } from './programs.ts'

/** What a durable nonce is at present, and who may advance it. */
export interface NonceState {
  readonly value: string
  readonly authority: string
}

/**
 * `nonce::state::Versions` in bincode: version and state (1: initialized) in four bytes each, the authority, the value, and
 * what signatures cost.
 */
const NONCE_BYTES = 80
const INITIALIZED = 1

/** Reads a nonce account; refused when it is none. */
export async function readNonce(client: PooledClient, address: string): Promise<Answer<NonceState>> {
  const answer = await readAccounts(client, [address])
  if (answer.kind !== 'ok') return answer
  const account = answer.value.accounts[0]
  const data = Buffer.from(account?.data ?? [])
  if (
    account?.owner !== SYSTEM_PROGRAM ||
    data.length !== NONCE_BYTES ||
    data.readUInt32LE(4) !== INITIALIZED
  ) {
    const detail = `The transaction advances a durable nonce, but ${address} is no initialized nonce account.`
    return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
  }
  return {
    kind: 'ok',
    value: { authority: encodeBase58(data.subarray(8, 40)), value: encodeBase58(data.subarray(40, 72)) },
  }
}
