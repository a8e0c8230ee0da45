import { larger } from '../../../lib/bigint.ts'
import { slicesOf } from '../../../lib/object.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import type { AccountFunds } from '../../capabilities.ts'
import { askStatements, createAgreedAmounts, mostAgreed, secondHighest } from '../../rpc/agreement.ts'
import { createRecentAnswer } from '../../rpc/balance-reader.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { Slot } from '../content.ts'
import { encodeBase58, SYSTEM_PROGRAM } from '../wire/addresses.ts'
import {
  fieldsOf,
  freshOf,
  readInteger,
  recentSlot,
  resultOf,
  type Timeouts,
  TOLERATED_SLOTS,
} from './replies.ts'

/** An account as a node reports it. */
export interface AccountState {
  readonly lamports: bigint
  /** The program that owns it. */
  readonly owner: string
  readonly data: Uint8Array
}

/** Accounts in the order of their addresses, all of one slot; undefined if an account does not exist. */
export interface AccountStates {
  readonly slot: Slot
  readonly accounts: readonly (AccountState | undefined)[]
}

/**
 * The highest number of addresses of one call (agave `MAX_MULTIPLE_ACCOUNTS`). A transaction has fewer
 * writable accounts and tables together.
 */
export const MAX_ACCOUNTS_ASKED = 100

/** `confirmed`: most of the cluster has voted for the block · `finalized`: the block stays for ever. */
type Commitment = 'confirmed' | 'finalized'

/**
 * Reads accounts, with the commitment `confirmed` by default; where endpoints differ, what most of them say,
 * or the newest.
 */
export async function readAccounts(
  client: PooledClient,
  addresses: readonly string[],
  commitment?: Commitment,
): Promise<Answer<AccountStates>> {
  const told = await readAccountsEverywhere(client, addresses, commitment)
  if (told.kind !== 'ok') return told
  const [first, ...others] = told.value.toSorted((one, other) => (one.slot > other.slot ? -1 : 1))
  return first === undefined
    ? NO_ACCOUNTS
    : { kind: 'ok', value: mostAgreed([first, ...others], isSameState) }
}

/** Reads accounts from every endpoint that is at the head. */
export async function readAccountsEverywhere(
  client: PooledClient,
  addresses: readonly string[],
  commitment?: Commitment,
): Promise<Answer<readonly AccountStates[]>> {
  const told = await askStatements(client, {
    calls: [accountsCall(addresses, commitment)],
    read: ([endpointReply]) => accountsIn(endpointReply && { ...endpointReply, behind: false }),
    isSame: isSameState,
    toleratedBlocks: TOLERATED_SLOTS,
  })
  return told.kind === 'ok' ? { kind: 'ok', value: told.value.map(({ value }) => value) } : told
}

function isSameState({ accounts }: AccountStates, other: AccountStates): boolean {
  return accounts.every((account, index) => {
    const twin = other.accounts[index]
    if (account === undefined || twin === undefined) return account === twin
    return account.owner === twin.owner && Buffer.from(account.data).equals(twin.data)
  })
}

const NO_ACCOUNTS = { kind: 'unknown', detail: 'the endpoint did not answer with accounts' } as const

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
  return accounts === undefined ? NO_ACCOUNTS : { kind: 'ok', value: { slot: answer.value.slot, accounts } }
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
 * The balance that an account without data must keep, if no node returns it, in lamports: 128 bytes of
 * overhead, two years, 3480 lamports for each byte and year (agave `Rent::default`). The network does not let
 * a fee leave less (`InsufficientFundsForRent`), and lowers it in steps (SIMD-0437), so this is never too
 * little.
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
  /**
   * Reads the amounts that accounts can spend, in lamports, without the minimum that they must keep; 0 for an
   * account that does not exist.
   */
  readBalances(addresses: readonly string[]): Promise<Answer<bigint>[]>
}

/** Creates a reader of funds, which reads the minimum of the network from time to time. */
export function createFundsReader(client: PooledClient, clock: Clock): FundsReader {
  const minimum = createRecentAnswer({
    ask: () => askMinimum(client),
    clock,
    freshForMs: MINIMUM_FRESH_FOR_MS,
  })

  const agreed = createAgreedAmounts()

  async function read(addresses: readonly string[], asOf = 0n): Promise<Answer<AccountFunds>[]> {
    const [answers, told] = await Promise.all([readLamports(addresses, asOf), minimum.read()])
    const kept = told.kind === 'ok' ? told.value : HIGHEST_MINIMUM
    return answers.map((answer) => {
      if (answer.kind !== 'ok') return answer
      const lamports = answer.value
      const spendable = larger(0n, lamports - kept)
      const missingReserve = larger(0n, kept - lamports)
      return { kind: 'ok', value: { spendable, missingReserve, exists: lamports > 0n } }
    })
  }

  /**
   * Asks one endpoint about the accounts on which the endpoints agreed before, and all of them about the
   * others, and about those that differ.
   */
  async function readLamports(addresses: readonly string[], asOf: bigint): Promise<Answer<bigint>[]> {
    if (client.states().length < 2) return askOne(addresses, asOf)
    const known = addresses.filter((address) => agreed.has(address))
    const answers = await askOne(known, asOf)
    const believed = new Map(
      known.flatMap((address, index): [string, Answer<bigint>][] => {
        const answer = answers[index]
        return answer?.kind === 'ok' && !agreed.isDoubtful(address, answer.value) ? [[address, answer]] : []
      }),
    )
    const others = addresses.filter((address) => !believed.has(address))
    const told = await askAll(others, asOf)
    for (const [index, address] of others.entries()) believed.set(address, told[index] ?? NOT_REACHED)
    return addresses.map((address) => believed.get(address) ?? NOT_REACHED)
  }

  async function askOne(addresses: readonly string[], asOf: bigint): Promise<Answer<bigint>[]> {
    if (addresses.length === 0) return []
    const { calls, readWith } = lamportsOf(addresses)
    return readWith(await client.sendAsOf(calls, larger(asOf, recentSlot(client))), freshOf)
  }

  async function askAll(addresses: readonly string[], asOf: bigint): Promise<Answer<bigint>[]> {
    if (addresses.length === 0) return []
    const { calls, readWith } = lamportsOf(addresses)
    const told = await askStatements<readonly bigint[]>(client, {
      calls,
      read: (replies) => allOf(readWith(replies, (reply) => freshOf(reply && { ...reply, behind: false }))),
      isSame: (one, other) => one.every((lamports, index) => lamports === other[index]),
      toleratedBlocks: TOLERATED_SLOTS,
    })
    if (told.kind !== 'ok') return addresses.map(() => told)
    const recent = told.value.filter(({ head }) => head >= asOf)
    return addresses.map((address, index) => {
      const amount = agreed.agree(
        address,
        recent.flatMap(({ value }) => value[index] ?? []),
      )
      return amount === undefined ? NOT_REACHED : { kind: 'ok', value: amount }
    })
  }

  return {
    readFunds: async (address, asOf) => {
      const [funds] = await read([address], asOf)
      return funds ?? NOT_REACHED
    },
    readBalances: async (addresses) =>
      (await read(addresses)).map((funds) =>
        funds.kind === 'ok' ? { kind: 'ok', value: funds.value.spendable } : funds,
      ),
  }
}

const NOT_REACHED = { kind: 'unknown', detail: 'no endpoint has reached the slot' } as const

/** The calls for the lamports of accounts, and the reader of their replies. */
interface LamportsQuestion {
  readonly calls: readonly RpcCall[]
  /** Returns the answer about each account, in their order. */
  readonly readWith: (
    replies: readonly EndpointReply[],
    open: (reply: EndpointReply | undefined) => ReturnType<typeof freshOf>,
  ) => Answer<bigint>[]
}

/** One account costs the node less by `getBalance`; of many, the data is left out. */
function lamportsOf(addresses: readonly string[]): LamportsQuestion {
  const [only] = addresses
  if (addresses.length === 1)
    return {
      calls: [{ method: 'getBalance', params: [only, { commitment: 'confirmed' }] }],
      readWith: ([reply], open) => {
        const answer = open(reply)
        return [answer.kind === 'ok' ? toLamports(readInteger(answer.value.value)) : answer]
      },
    }
  const slices = slicesOf(addresses, MAX_ACCOUNTS_ASKED)
  const options = { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 0, length: 0 } }
  return {
    calls: slices.map((slice) => ({ method: 'getMultipleAccounts', params: [slice, options] })),
    readWith: (replies, open) =>
      slices.flatMap((slice, index): Answer<bigint>[] => {
        const answer = open(replies[index])
        if (answer.kind !== 'ok') return slice.map(() => answer)
        const accounts = readList(answer.value.value)
        if (accounts?.length !== slice.length) return slice.map(() => NO_BALANCE)
        return accounts.map((account) => toLamports(account?.lamports ?? 0n))
      }),
  }
}

const NO_BALANCE = { kind: 'unknown', detail: 'the endpoint did not answer with a balance' } as const

function toLamports(lamports: bigint | undefined): Answer<bigint> {
  return lamports === undefined ? NO_BALANCE : { kind: 'ok', value: lamports }
}

/** Returns the values if there is every one of them, and otherwise the first answer that is none. */
function allOf(answers: readonly Answer<bigint>[]): Answer<readonly bigint[]> {
  const values: bigint[] = []
  for (const answer of answers) {
    if (answer.kind !== 'ok') return answer
    values.push(answer.value)
  }
  return { kind: 'ok', value: values }
}

async function askMinimum(client: PooledClient): Promise<Answer<bigint>> {
  const told = await askStatements(client, {
    calls: [MINIMUM],
    read: ([endpointReply]) => {
      const result = resultOf(endpointReply?.reply)
      const lamports = result.kind === 'ok' ? readInteger(result.value) : undefined
      return lamports === undefined ? NO_MINIMUM : { kind: 'ok', value: lamports }
    },
    isSame: (one, other) => one === other,
    toleratedBlocks: TOLERATED_SLOTS,
  })
  if (told.kind !== 'ok') return told
  const lamports = secondHighest(told.value.map(({ value }) => value))
  return lamports === undefined ? NO_MINIMUM : { kind: 'ok', value: lamports }
}

const NO_MINIMUM = {
  kind: 'unknown',
  detail: 'the endpoint did not return the minimum balance of an account',
} as const

/** The current value of a durable nonce, and its authority. */
export interface NonceState {
  readonly value: string
  readonly authority: string
}

/**
 * `nonce::state::Versions` in bincode: version and state (1: initialized) in four bytes each, the authority,
 * the value, and the price of a signature.
 */
const NONCE_BYTES = 80
const INITIALIZED = 1

/** The content of a nonce account in this slot; without a state if the account no longer exists. */
interface NonceReading {
  readonly slot: Slot
  readonly state: NonceState | undefined
}

/** Reads what each endpoint at the head says about a nonce account, as of its finalized slot. */
export async function readFinalizedNonces(
  client: PooledClient,
  address: string,
): Promise<Answer<readonly NonceReading[]>> {
  const told = await readAccountsEverywhere(client, [address], 'finalized')
  return told.kind === 'ok' ? { kind: 'ok', value: told.value.map(nonceIn) } : told
}

function nonceIn({ slot, accounts }: AccountStates): NonceReading {
  return { slot, state: stateIn(accounts[0]) }
}

/** A nonce, and the confirmed slot in which the account contained it. */
interface NonceFound extends NonceState {
  readonly slot: Slot
}

/** Reads the nonce that a transaction advances; refuses when there is none. */
export async function requireNonce(
  { client, timeouts }: { readonly client: PooledClient; readonly timeouts: Timeouts },
  address: string,
): Promise<Answer<NonceFound>> {
  const reading = await readAccounts(client, [address])
  if (reading.kind !== 'ok') return reading
  const { slot, state } = nonceIn(reading.value)
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
