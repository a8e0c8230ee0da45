import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { type AccountState, readAccounts } from '../read/accounts.ts'
import type { Timeouts } from '../read/replies.ts'
import {
  ADDRESS_LOOKUP_TABLE_PROGRAM,
  encodeBase58,
  KEY_BYTES,
  type LoadedAddresses,
  tablesOf,
} from './addresses.ts'
import { lookupsOf, type Message } from './message.ts'

/** The length of the data before the addresses of a table (`LOOKUP_TABLE_META_SIZE`). */
const META_BYTES = 56

/**
 * Reads the accounts that a message loads from tables in their current state; refuses when a table or an
 * index in it does not exist and is not only too new.
 */
export async function loadAddresses(
  { client, timeouts }: { readonly client: PooledClient; readonly timeouts: Timeouts },
  message: Message,
): Promise<Answer<LoadedAddresses>> {
  const tables = tablesOf(message)
  if (tables.length === 0) return { kind: 'ok', value: [] }
  const answer = await readAccounts(client, tables)
  if (answer.kind !== 'ok') return answer
  const loaded: { writable: string[]; readonly: string[] }[] = []
  for (const [index, lookup] of lookupsOf(message).entries()) {
    const addresses = addressesIn(answer.value.accounts[index])
    const pick = (indexes: readonly number[]) => indexes.flatMap((entry) => addresses?.[entry] ?? [])
    const writable = pick(lookup.writableIndexes)
    const readonly = pick(lookup.readonlyIndexes)
    const found = writable.length + readonly.length
    if (found < lookup.writableIndexes.length + lookup.readonlyIndexes.length) {
      const answer = missing(lookup.lookupTableAddress, addresses === undefined)
      return timeouts.isOver(`tables ${tables.join(' ')}`) ? answer : TOO_NEW
    }
    loaded.push({ writable, readonly })
  }
  return { kind: 'ok', value: loaded }
}

function addressesIn(account: AccountState | undefined): string[] | undefined {
  if (account?.owner !== ADDRESS_LOOKUP_TABLE_PROGRAM) return undefined
  const { data } = account
  const count = Math.max(0, Math.floor((data.length - META_BYTES) / KEY_BYTES))
  return Array.from({ length: count }, (_, index) => {
    const start = META_BYTES + index * KEY_BYTES
    return encodeBase58(data.subarray(start, start + KEY_BYTES))
  })
}

const TOO_NEW: Answer<never> = {
  kind: 'unknown',
  detail: 'no endpoint knows all addresses of its tables; they may be too new',
}

function missing(table: string, whole: boolean): Answer<never> {
  const detail = whole
    ? `transaction: ${table} is not an address lookup table.`
    : `transaction: the address lookup table ${table} lacks some of the addresses that the transaction uses.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

type Instruction = Message['instructions'][number]
type StaticAddress = Message['staticAccounts'][number]

/** Returns the same message with another blockhash, or nonce. */
export function withLifetime(message: Message, lifetimeToken: string): Message {
  return { ...message, lifetimeToken }
}

/**
 * Returns the same message with further instructions of one program, which use no accounts. They come last:
 * some instructions refer to others by index (those of the ed25519 program), and the first one must advance a
 * durable nonce.
 */
export function withInstructions(message: Message, program: string, datas: readonly Uint8Array[]): Message {
  if (datas.length === 0) return message
  const known = message.staticAccounts.indexOf(program as StaticAddress)
  const widened = known > 0 ? message : withProgram(message, program as StaticAddress)
  const programAddressIndex = known > 0 ? known : message.staticAccounts.length
  const added = datas.map((data): Instruction => ({ programAddressIndex, data }))
  return { ...widened, instructions: [...widened.instructions, ...added] }
}

/** A program is read-only and signs nothing, so its index is the last of the static accounts. */
function withProgram(message: Message, program: StaticAddress): Message {
  const { header, staticAccounts, instructions } = message
  const insertedAt = staticAccounts.length
  return {
    ...message,
    header: { ...header, numReadonlyNonSignerAccounts: header.numReadonlyNonSignerAccounts + 1 },
    staticAccounts: [...staticAccounts, program],
    // Accounts from tables come after it.
    instructions:
      lookupsOf(message).length === 0 ? instructions : instructions.map((one) => moveFrom(one, insertedAt)),
  }
}

function moveFrom(instruction: Instruction, insertedAt: number): Instruction {
  const { accountIndices } = instruction
  if (accountIndices === undefined) return instruction
  return {
    ...instruction,
    accountIndices: accountIndices.map((index) => (index >= insertedAt ? index + 1 : index)),
  }
}
