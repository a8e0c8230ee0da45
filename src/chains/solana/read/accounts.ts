import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import type { AccountFunds } from '../../capabilities.ts'
import { createRecentAnswer } from '../../rpc/balance-reader.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { encodeBase58, SYSTEM_PROGRAM } from '../wire/addresses.ts'
import { fieldsOf, freshOf, readInteger, recentSlot, resultOf, type Timeouts } from './replies.ts'

/** An account as a node reports it. */
export interface AccountState {
  readonly lamports: bigint
  /** The program that owns it. */
  readonly owner: string
  readonly data: Uint8Array
}

/** Accounts in the order of their addresses, all of one slot; undefined if an account does not exist. */
export interface AccountStates {
  readonly slot: bigint
  readonly accounts: readonly (AccountState | undefined)[]
}

/**
 * The highest number of addresses of one call (agave `MAX_MULTIPLE_ACCOUNTS`). A transaction has fewer writable accounts and tables
 * together.
 */
export const MAX_ACCOUNTS_ASKED = 100

/** `confirmed`: most of the cluster has voted for the block · `finalized`: the block stays for ever. */
type Commitment = 'confirmed' | 'finalized'

/** Reads accounts, with the commitment `confirmed` by default. */
export async function readAccounts(
  client: PooledClient,
  addresses: readonly string[],
  commitment?: Commitment,
): Promise<Answer<AccountStates>> {
  const [endpointReply] = await client.sendAsOf([accountsCall(addresses, commitment)], recentSlot(client))
  return accountsIn(endpointReply)
}

/** Returns the call for the accounts. States that are compared must have the same commitment. */
export function accountsCall(addresses: readonly string[], commitment: Commitment = 'confirmed'): RpcCall {
  const asked = addresses.slice(0, MAX_ACCOUNTS_ASKED)
  return { method: 'getMultipleAccounts', params: [asked, { encoding: 'base64', commitment }] }
}

/** Reads the reply to `accountsCall`. */
export function accountsIn(endpointReply: EndpointReply | undefined): Answer<AccountStates> {
  const answer = freshOf(endpointReply)
  if (answer.kind !== 'ok') return answer
  const accounts = readList(answer.value.value)
  return accounts === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not answer with accounts' }
    : { kind: 'ok', value: { slot: answer.value.slot, accounts } }
}

/** Reads a list of accounts; undefined if one of them cannot be read. */
export function readList(value: unknown): (AccountState | undefined)[] | undefined {
  if (!Array.isArray(value)) return undefined
  const read = value.map(readAccount)
  return read.includes('unreadable') ? undefined : (read as (AccountState | undefined)[])
}

function readAccount(value: unknown): AccountState | undefined | 'unreadable' {
  if (value === null) return undefined
  const { lamports, owner, data } = fieldsOf(value)
  const amount = readInteger(lamports)
  const [text] = Array.isArray(data) ? (data as unknown[]) : []
  if (amount === undefined || typeof owner !== 'string' || typeof text !== 'string') return 'unreadable'
  return { lamports: amount, owner, data: Uint8Array.from(Buffer.from(text, 'base64')) }
}

/**
 * The balance that an account without data must keep, if no node returns it, in lamports: 128 bytes of overhead, two years, 3480 lamports
 * for each byte and year (agave `Rent::default`). The network does not let a fee leave less (`InsufficientFundsForRent`), and lowers it in
 * steps (SIMD-0437), so this is never too little.
 */
const HIGHEST_MINIMUM = 890_880n

/** The minimum changes with an epoch, so an older result is read again after this time, in ms. */
const MINIMUM_FRESH_FOR_MS = 600_000

/** The minimum for an account without data. */
const MINIMUM: RpcCall = { method: 'getMinimumBalanceForRentExemption', params: [0] }

/** Reads the funds of accounts. */
export interface FundsReader {
  /** Reads the lamports of an account; an endpoint that has not reached the slot `asOf` yields unknown. */
  readFunds(address: string, asOf?: bigint): Promise<Answer<AccountFunds>>
  /** Reads the amount that an account can spend, in lamports, without the minimum that it must keep; 0 for an account that does not exist. */
  readBalance(address: string): Promise<Answer<bigint>>
}

/** Creates a reader of funds, which reads the minimum of the network from time to time. */
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
    ? { kind: 'unknown', detail: 'the endpoint did not return the minimum balance of an account' }
    : { kind: 'ok', value: lamports }
}

/** The current value of a durable nonce, and its authority. */
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

/** The content of a nonce account in this slot; without a state if the account no longer exists. */
interface NonceReading {
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
interface NonceFound extends NonceState {
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
    return { kind: 'unknown', detail: `${address} is not a nonce account yet` }
  const detail = `The transaction advances a durable nonce, but ${address} is not an initialized nonce account.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

function stateIn(account: AccountState | undefined): NonceState | undefined {
  const data = Buffer.from(account?.data ?? [])
  if (account?.owner !== SYSTEM_PROGRAM || data.length !== NONCE_BYTES) return undefined
  if (data.readUInt32LE(4) !== INITIALIZED) return undefined
  return { authority: encodeBase58(data.subarray(8, 40)), value: encodeBase58(data.subarray(40, 72)) }
}
