import { type Effects, joinEffects, NATIVE, type PartialEffects } from '../../effects.ts'
import type { SolanaRequest } from '../content.ts'
import { contentOf } from '../request-content.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  accountsOf,
  COMPUTE_BUDGET_PROGRAM,
  type LoadedAddresses,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../wire/addresses.ts'
import { type Message, programOf } from '../wire/message.ts'
import { lamportsIn, type SystemKind, systemKindOf } from '../wire/system-instruction.ts'

/** An instruction that takes lamports from its first account. */
interface Debit {
  /** The index of the account that receives. */
  readonly receiver: number
  /** The length of the data without the seed, in bytes. */
  readonly bytes: number
  /** The place of the seed's length, which has eight bytes. */
  readonly seedAt?: number
}

const DEBITS: Readonly<Partial<Record<SystemKind, Debit>>> = {
  createAccount: { receiver: 1, bytes: 52 },
  createAccountWithSeed: { receiver: 1, bytes: 92, seedAt: 36 },
  transfer: { receiver: 1, bytes: 12 },
  transferWithSeed: { receiver: 2, bytes: 52, seedAt: 12 },
}

/** Instructions that move nothing, and the length of their data in bytes. */
const HARMLESS_SYSTEM_CALLS: Readonly<Partial<Record<SystemKind, number>>> = {
  advanceNonce: 4,
  initializeNonce: 36,
  allocate: 12,
}

/** Reads an instruction of the system program. */
const readSystem: ReadCall = (call, address) => {
  const { accounts, data } = call
  const kind = systemKindOf(data)
  if (kind === undefined) return undefined
  const [first] = accounts
  // An account with allocated data can no longer send lamports.
  if (DEBITS[kind] === undefined)
    return data.length === HARMLESS_SYSTEM_CALLS[kind] && first !== address ? {} : undefined
  const debit = debitOf(call)
  if (debit === undefined) return undefined
  // A transfer takes from its first account only, so this one pays the relayer.
  if (first !== address) return kind === 'transfer' && first !== undefined ? {} : undefined
  const { to, amount: value } = debit
  return to === undefined ? undefined : { receivers: [to], amounts: [{ asset: NATIVE, value }] }
}

/** Lamports that an instruction takes, or tokens. An account from a table has no address here. */
export interface Debited {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly amount: bigint
}

/**
 * Reads an instruction of the system program that takes lamports; undefined for others, and for data of
 * another length.
 */
export function debitOf({ accounts, data }: Call): Debited | undefined {
  const kind = systemKindOf(data)
  const debit = kind && DEBITS[kind]
  if (debit === undefined || data.length !== lengthOf(debit, data)) return undefined
  const amount = lamportsIn(data)
  return amount === undefined ? undefined : { from: accounts[0], to: accounts[debit.receiver], amount }
}

/** A length of the seed beyond 2^53 loses digits here, but no data is that long. */
function lengthOf({ bytes, seedAt }: Debit, data: Buffer): number | undefined {
  if (seedAt === undefined) return bytes
  return data.length < seedAt + 8 ? undefined : bytes + Number(data.readBigUInt64LE(seedAt))
}

/** An instruction that names the mint, the amount and who receives. */
interface Checked {
  /** The first bytes of the data. */
  readonly kind: readonly number[]
  /** The length of the data, in bytes. The amount follows the kind, in eight bytes. */
  readonly bytes: number
  /** The index of the receiving token account, or of the delegate. */
  readonly receiver?: number
  /** The index of the owner; the signers follow when it is a multisig account. */
  readonly owner: number
  /** The receiver is a delegate, who can take the amount later. */
  readonly allowance?: true
  /** The mint can have a program that Token-2022 calls with all further accounts (transfer hook). */
  readonly hooked?: true
}

/** The index of the mint in all of them. */
const MINT = 1

/**
 * `TokenInstruction` of spl-token and, for the last one, `TransferFeeInstruction` of Token-2022, whose fee is
 * a part of the amount.
 */
const CHECKED: readonly Checked[] = [
  { kind: [12], bytes: 10, receiver: 2, owner: 3, hooked: true },
  { kind: [13], bytes: 10, receiver: 2, owner: 3, allowance: true },
  { kind: [15], bytes: 10, owner: 2 },
]
const CHECKED_WITH_FEE: Checked = { kind: [26, 1], bytes: 19, receiver: 2, owner: 3, hooked: true }

/**
 * Kinds that neither move tokens of their signer nor give rights on them, and the length of their data in
 * bytes.
 */
const HARMLESS_TOKEN_CALLS: ReadonlyMap<number | undefined, number> = new Map([
  [1, 1], // InitializeAccount
  [5, 1], // Revoke
  [11, 1], // ThawAccount
  [16, 33], // InitializeAccount2
  [17, 1], // SyncNative
  [18, 33], // InitializeAccount3
  [22, 1], // InitializeImmutableOwner
])

/**
 * Reads an instruction of SPL Token or Token-2022. Transfers without the mint are unread: their bytes do not
 * show the asset.
 */
const readToken: ReadCall = (call, address) => {
  const { accounts, data } = call
  if (HARMLESS_TOKEN_CALLS.get(data[0]) === data.length) return {}
  const checked = checkedOf(call)
  if (checked === undefined || !isBy(call, checked, address)) return undefined
  const asset = accounts[MINT]
  const receivers = checked.receiver === undefined ? [] : [accounts[checked.receiver]]
  if (asset === undefined || !receivers.every((receiver) => receiver !== undefined)) return undefined
  const amounts = [{ asset, value: data.readBigUInt64LE(checked.kind.length) }]
  return { receivers, amounts, ...(checked.allowance && { allowances: amounts }) }
}

function checkedOf({ program, data }: Call): Checked | undefined {
  const kinds = program === TOKEN_2022_PROGRAM ? [...CHECKED, CHECKED_WITH_FEE] : CHECKED
  return kinds.find(({ kind, bytes }) => data.length === bytes && kind.every((byte, at) => data[at] === byte))
}

/** Tokens that an instruction takes from their owner, or from the delegate who acts for the owner. */
export interface DebitedTokens extends Debited {
  /** The address of the mint. */
  readonly mint: string
  /** The program refuses the instruction if these are not the decimals of the mint. */
  readonly decimals: number
}

/**
 * Reads an instruction of SPL Token or Token-2022 that moves tokens to the token account `to`, or burns them;
 * undefined for others, and for those that do not name the mint.
 */
export function tokenDebitOf(call: Call): DebitedTokens | undefined {
  const { accounts, data } = call
  const checked = checkedOf(call)
  const mint = accounts[MINT]
  if (checked === undefined || checked.allowance || mint === undefined) return undefined
  const { kind, owner, receiver } = checked
  return {
    from: accounts[owner],
    to: receiver === undefined ? undefined : accounts[receiver],
    amount: data.readBigUInt64LE(kind.length),
    mint,
    decimals: data.readUInt8(kind.length + 8),
  }
}

/**
 * Returns true if the account is the owner, or may be a signer of the multisig account that is. A transfer
 * hook receives the accounts after the owner with their signatures, so its use of the relayer's signature is
 * unknown.
 */
function isBy({ program, accounts }: Call, { owner, hooked }: Checked, address: string): boolean {
  if (hooked && program === TOKEN_2022_PROGRAM)
    return accounts[owner] === address && accounts.length === owner + 1
  return accounts.indexOf(address, owner) >= 0
}

/** `AssociatedTokenAccountInstruction`: the first byte of the data. */
const CREATE = 0
const CREATE_IDEMPOTENT = 1

/** Payer, token account, owner, mint, system program and token program. */
const ACCOUNTS = 6

/**
 * Reads an instruction of the associated token account program. To open an account takes nothing but rent;
 * the program calls no other token program than the two of SPL. No data means `Create`.
 */
const readAssociatedToken: ReadCall = (call) => (openedBy(call) ? {} : undefined)

/** A token account and the account that owns it. */
export interface OpenedAccount {
  readonly account: string | undefined
  readonly owner: string | undefined
}

/**
 * Reads an instruction of the associated token account program that opens an account; undefined for others.
 */
export function openedBy({ accounts, data }: Call): OpenedAccount | undefined {
  const [kind = CREATE] = data
  const opens = data.length <= 1 && (kind === CREATE || kind === CREATE_IDEMPOTENT)
  const [_payer, account, owner] = accounts
  return opens && accounts.length >= ACCOUNTS ? { account, owner } : undefined
}

/** Returns the effects of a checked request on the relayer's account `address`, without fees and rent. */
export function solanaEffects(request: SolanaRequest, address: string): Effects {
  return joinEffects(callsOf(contentOf(request, address).message).map((call) => effectsOf(call, address)))
}

/** Returns the instructions of a message, with their accounts by address. */
export function callsOf(message: Message, loaded?: LoadedAddresses): Call[] {
  const accounts = accountsOf(message, loaded)
  return message.instructions.map((instruction) => ({
    program: programOf(message, instruction),
    accounts: (instruction.accountIndices ?? []).map((index) => accounts[index]?.address),
    data: Buffer.from(instruction.data ?? []),
  }))
}

function effectsOf(call: Call, address: string): PartialEffects {
  const { program } = call
  if (program === COMPUTE_BUDGET_PROGRAM) return {}
  const read = reaches(call, address) ? READERS.get(program)?.(call, address) : {}
  return { contracts: [program], ...(read ?? { unread: [{ target: program }] }) }
}

/**
 * A program acts with the authority of the fee payer only when it receives its account; the account is then a
 * signer, regardless of the instruction. The fee payer is never among the accounts from tables, because a
 * transaction loads no account twice (agave `AccountLoadedTwice`).
 */
function reaches({ accounts }: Call, address: string): boolean {
  return accounts.includes(address)
}

const readNothing: ReadCall = () => ({})

const READERS: ReadonlyMap<string, ReadCall> = new Map([
  [SYSTEM_PROGRAM, readSystem],
  [TOKEN_PROGRAM, readToken],
  [TOKEN_2022_PROGRAM, readToken],
  [ASSOCIATED_TOKEN_PROGRAM, readAssociatedToken],
  [MEMO_PROGRAM, readNothing],
  [MEMO_V1_PROGRAM, readNothing],
])

/** An instruction with its accounts by address. */
export interface Call {
  readonly program: string
  /** In the order of the instruction; undefined for an account from a table. */
  readonly accounts: readonly (string | undefined)[]
  readonly data: Buffer
}

/**
 * Reads the effects on `address` of an instruction that receives its account; undefined if its bytes do not
 * show them exactly.
 */
type ReadCall = (call: Call, address: string) => PartialEffects | undefined
