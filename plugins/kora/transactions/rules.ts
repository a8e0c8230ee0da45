import { isAddress } from '@solana/kit'
import { Fields } from '../../shared/fields.ts'
import type { Rpc, World } from '../../shared/host.ts'
import { type AccountInfo, readAccounts, tokenAccountIn } from '../../shared/solana-accounts.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  type Instruction,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../shared/solana-transaction.ts'
import { countIn } from '../../shared/windows.ts'
import { KoraError } from '../errors.ts'
import type { UserTransaction } from './transaction.ts'

/** What a transaction must be, besides the policies of the relayer. */
export interface Rules {
  /** One of these programs must be called; any transaction if empty. */
  readonly requiredPrograms: readonly string[]
  readonly versions: ReadonlySet<unknown>
  /** The most lamports for priority. */
  readonly maxPriorityFee: number | undefined
  /** The only extensions of mints and of accounts whose tokens of Token-2022 move; any if absent. */
  readonly extensions: { readonly mint?: ReadonlySet<number>; readonly account?: ReadonlySet<number> }
  readonly instructionLimits: readonly InstructionLimit[]
}

/** How many instructions of one kind the transactions of a user may have within a time. */
interface InstructionLimit {
  readonly program: string
  readonly instruction: string
  readonly max: bigint
  readonly windowSeconds: number
}

const VERSIONS = ['legacy', 0]

/** The longest window of an instruction limit, in seconds: three years. */
const MAX_WINDOW_SECONDS = 100_000_000

/** Reads the fields about transactions. */
export function readRules(fields: Fields): Rules {
  const tokens = fields.fields('token_2022')
  const rules = {
    requiredPrograms: fields.list('require_one_of_programs').map(String),
    versions: new Set(fields.optionalList('transaction_versions') ?? VERSIONS),
    maxPriorityFee: fields.integer('max_priority_fee_lamports', 0, Number.MAX_SAFE_INTEGER),
    extensions: {
      ...readExtensions(tokens, 'mint', MINT_EXTENSIONS),
      ...readExtensions(tokens, 'account', ACCOUNT_EXTENSIONS),
    },
    instructionLimits: fields.list('instruction_limits').map(readLimit),
  }
  tokens?.refuseOthers()
  const bad = rules.requiredPrograms.find((program) => !isAddress(program))
  if (bad !== undefined) throw new Error('config.require_one_of_programs: expected addresses in base58.')
  const isVersion = (one: unknown) => VERSIONS.some((version) => version === one)
  if (rules.versions.size === 0 || ![...rules.versions].every(isVersion))
    throw new Error('config.transaction_versions: expected "legacy", 0, or both.')
  return rules
}

function readLimit(value: unknown, index: number): InstructionLimit {
  const path = `config.instruction_limits[${index}]`
  const limit = new Fields(path, value)
  const program = limit.text('program', /^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  const instruction = limit.text('instruction', /^[A-Za-z0-9]{1,60}$/).toLowerCase()
  const max = limit.integer('max', 0, 1_000_000_000)
  const windowSeconds = limit.integer('window_seconds', 1, MAX_WINDOW_SECONDS)
  limit.refuseOthers()
  if (max === undefined || windowSeconds === undefined)
    throw new Error(`${path}: max and window_seconds are required.`)
  const names = KINDS.get(program)?.names ?? []
  if (!names.includes(instruction))
    throw new Error(
      `${path}.instruction: expected one of ${program}: ${names.join(', ') || 'none is known'}.`,
    )
  return { program, instruction, max: BigInt(max), windowSeconds }
}

function readExtensions(
  tokens: Fields | undefined,
  of: 'mint' | 'account',
  known: Readonly<Record<string, number>>,
) {
  const list = tokens?.optionalList(`${of}_extensions`)
  if (list === undefined) return {}
  const numbers = list.map((name) => {
    const number = typeof name === 'string' && Object.hasOwn(known, name) ? known[name] : undefined
    if (number === undefined) throw new Error(`config.token_2022.${of}_extensions: ${String(name)} is none.`)
    return number
  })
  return { [of]: new Set(numbers) }
}

/** The numbers of the extensions of Token-2022 (`ExtensionType`), by Kora's names. */
export const MINT_EXTENSIONS: Readonly<Record<string, number>> = {
  transfer_fee_config: 1,
  mint_close_authority: 3,
  confidential_transfer_mint: 4,
  default_account_state: 6,
  non_transferable: 9,
  interest_bearing_config: 10,
  permanent_delegate: 12,
  transfer_hook: 14,
  confidential_transfer_fee_config: 16,
  metadata_pointer: 18,
  token_metadata: 19,
  group_pointer: 20,
  token_group: 21,
  group_member_pointer: 22,
  token_group_member: 23,
  confidential_mint_burn: 24,
  scaled_ui_amount: 25,
  pausable: 26,
}
export const ACCOUNT_EXTENSIONS: Readonly<Record<string, number>> = {
  transfer_fee_amount: 2,
  confidential_transfer_account: 5,
  immutable_owner: 7,
  memo_transfer: 8,
  cpi_guard: 11,
  non_transferable_account: 13,
  transfer_hook_account: 15,
  confidential_transfer_fee_amount: 17,
  pausable_account: 27,
}

/** Refuses a transaction that the rules exclude by its bytes alone. @throws KoraError */
export function checkRules(
  { decoded }: Pick<UserTransaction, 'decoded'>,
  { requiredPrograms, versions }: Rules,
): void {
  const { message, instructions } = decoded
  if (!versions.has(message.version)) throw refused(`Transactions of version ${message.version} are refused.`)
  const isCalled = instructions.some(({ program }) => requiredPrograms.includes(program))
  if (requiredPrograms.length > 0 && !isCalled)
    throw refused(`One of these programs must be called: ${requiredPrograms.join(', ')}.`)
}

const LAMPORTS_PER_SIGNATURE = 5_000

/** Refuses a fee with too much for priority. @throws KoraError */
export function checkPriority(
  { decoded }: UserTransaction,
  lamports: number,
  { maxPriorityFee }: Rules,
): void {
  const priority = lamports - LAMPORTS_PER_SIGNATURE * decoded.message.header.numSignerAccounts
  if (maxPriorityFee !== undefined && priority > maxPriorityFee)
    throw refused(
      `The priority costs ${priority} lamports, and max_priority_fee_lamports is ${maxPriorityFee}.`,
    )
}

/** Transfers of Token-2022: the first bytes, and the places of source, mint and destination. */
const MOVES = [
  { kind: [3], source: 0, mint: undefined, destination: 1 },
  { kind: [12], source: 0, mint: 1, destination: 2 },
  { kind: [26, 1], source: 0, mint: 1, destination: 2 },
]

/** Refuses transfers of tokens with extensions that are not on the list. @throws KoraError */
export async function checkExtensions(
  transaction: UserTransaction,
  { extensions: { mint, account } }: Rules,
  rpc: Rpc,
): Promise<void> {
  if (mint === undefined && account === undefined) return
  const { decoded, accounts } = transaction
  const moves = decoded.instructions.flatMap(({ program, accounts: used, data }) => {
    const move = MOVES.find(({ kind }) => kind.every((byte, at) => data[at] === byte))
    if (program !== TOKEN_2022_PROGRAM || move === undefined) return []
    const at = (place: number | undefined) => (place === undefined ? undefined : accounts[used[place] ?? -1])
    return [{ holders: [at(move.source), at(move.destination)], mint: at(move.mint) }]
  })
  const holders = [...new Set(moves.flatMap((move) => move.holders.filter((one) => one !== undefined)))]
  if (holders.length === 0) return
  const held = (await readAccounts(holders, rpc)).accounts
  const named = moves.flatMap((move) => move.mint ?? [])
  const mints = [...new Set([...named, ...held.flatMap((one) => tokenAccountIn(one)?.mint ?? [])])]
  const read = (await readAccounts(mints, rpc)).accounts
  requireListed(held, account, ACCOUNT_EXTENSIONS)
  requireListed(read, mint, MINT_EXTENSIONS)
}

function requireListed(
  accounts: readonly (AccountInfo | null)[],
  allowed: ReadonlySet<number> | undefined,
  names: Readonly<Record<string, number>>,
): void {
  if (allowed === undefined) return
  const found = accounts.flatMap((one) => (one?.owner === TOKEN_2022_PROGRAM ? extensionsOf(one) : []))
  const other = found.find((number) => number !== 0 && !allowed.has(number))
  if (other === undefined) return
  const name = Object.keys(names).find((one) => names[one] === other) ?? other
  throw refused(`Tokens with the extension ${name} of Token-2022 are refused.`)
}

/** Where Token-2022 appends extensions, to mints and to accounts: each has a number and a length. */
const EXTENSIONS_AT = 166

/** Lists the numbers of the extensions of a mint or an account. */
export function extensionsOf({ data }: AccountInfo): readonly number[] {
  const bytes = Buffer.from(data[0], 'base64')
  const found: number[] = []
  for (let at = EXTENSIONS_AT; at + 4 <= bytes.length; at += 4 + bytes.readUInt16LE(at + 2))
    found.push(bytes.readUInt16LE(at))
  return found
}

/**
 * Counts the instructions of a user that are limited. What is refused afterwards stays counted: a limit may
 * be reached too early, never too late. @throws KoraError
 */
export async function countInstructions(
  { decoded }: UserTransaction,
  { instructionLimits }: Rules,
  { userId, world }: { readonly userId: string; readonly world: World },
): Promise<void> {
  for (const { program, instruction, max, windowSeconds } of instructionLimits) {
    const times = decoded.instructions.filter((one) => one.program === program && nameIn(one) === instruction)
    if (times.length === 0) continue
    const beyond = (message: string) => new KoraError('UsageLimitExceeded', `${instruction}: ${message}`)
    const limit = { per: 'instruction', windowSeconds, times: undefined, amount: max }
    const who = [userId, program, instruction]
    await countIn(limit, { who, amount: BigInt(times.length), beyond }, world)
  }
}

/** Instructions of a program: how many bytes name one, and the names in their order. */
interface Kinds {
  readonly bytes: 1 | 4
  readonly names: readonly string[]
}

const TOKEN_KINDS: Kinds = {
  bytes: 1,
  names: (
    'initializemint initializeaccount initializemultisig transfer approve revoke setauthority mintto burn closeaccount ' +
    'freezeaccount thawaccount transferchecked approvechecked minttochecked burnchecked'
  ).split(' '),
}

/** The instructions that can be limited. */
const KINDS: ReadonlyMap<string, Kinds> = new Map([
  [
    SYSTEM_PROGRAM,
    {
      bytes: 4,
      names: (
        'createaccount assign transfer createaccountwithseed advancenonceaccount withdrawnonceaccount initializenonceaccount ' +
        'authorizenonceaccount allocate allocatewithseed assignwithseed transferwithseed'
      ).split(' '),
    },
  ],
  [TOKEN_PROGRAM, TOKEN_KINDS],
  [TOKEN_2022_PROGRAM, TOKEN_KINDS],
  [ASSOCIATED_TOKEN_PROGRAM, { bytes: 1, names: ['create', 'createidempotent', 'recovernested'] }],
])

function nameIn({ program, data }: Instruction): string | undefined {
  const kinds = KINDS.get(program)
  if (kinds === undefined) return undefined
  // No data means the first one to the associated token program.
  if (kinds.bytes === 1) return kinds.names[data[0] ?? 0]
  return data.length < 4 ? undefined : kinds.names[Buffer.from(data).readUInt32LE()]
}

function refused(message: string): KoraError {
  return new KoraError('ValidationError', message)
}
