import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import {
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
} from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from './runtime/programs.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from './tokens.ts'

/** A key of a test. */
export interface Wallet {
  readonly address: Address
  readonly key: KeyObject
}

/** The bytes before the 32 bytes of an ed25519 private key in PKCS#8 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A fresh one. */
export function createWallet(): Wallet {
  return walletOf(randomBytes(32))
}

/** The one of these 32 bytes. */
export function walletOf(seed: Uint8Array): Wallet {
  const der = Buffer.concat([PKCS8_PREFIX, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return { address: getAddressDecoder().decode(spki.subarray(-32)), key }
}

/** The rights of an instruction on an account. */
export interface Use {
  readonly address: Address
  readonly signs?: boolean
  readonly writes?: boolean
}

/** An instruction before it is compiled. */
export interface Step {
  readonly program: Address
  readonly accounts: readonly Use[]
  readonly data: Uint8Array
}

/** A message to be signed: a legacy one, or one of version 0 when it looks accounts up. */
export interface Content {
  /** The first signer pays. */
  readonly signers: readonly [Wallet, ...Wallet[]]
  readonly blockhash: string
  readonly steps: readonly Step[]
  readonly lookups?: readonly { readonly table: Address; readonly writable: readonly Address[] }[]
  /** The addresses of the tables, in their order. */
  readonly tables?: Readonly<Record<string, readonly Address[]>>
}

/** Signed bytes, and their name. */
export interface Signed {
  readonly signature: string
  readonly base64: string
  readonly bytes: Uint8Array
  readonly message: Uint8Array
}

/** Compiles and signs. Written apart from the node's reader, and from every SDK, so that each checks the other. */
export function signContent(content: Content): Signed {
  const message = compile(content)
  const signatures = content.signers.map(({ key }) => sign(null, message, key))
  const bytes = Buffer.concat([length(signatures.length), ...signatures, message])
  const signature = getBase58Decoder().decode(signatures[0] ?? Buffer.alloc(64))
  return { signature, base64: bytes.toString('base64'), bytes, message }
}

function compile(content: Content): Buffer {
  const { blockhash, steps, lookups = [], tables = {} } = content
  const { keys, header } = arrange(content)
  const loaded = lookups.flatMap(({ writable }) => writable)
  const all = [...keys, ...loaded]
  const compiled = steps.map(({ program, accounts, data }) =>
    Buffer.concat([
      Buffer.from([all.indexOf(program)]),
      list(accounts.map(({ address }) => all.indexOf(address))),
      length(data.length),
      data,
    ]),
  )
  const written = lookups.map(({ table, writable }) =>
    Buffer.concat([
      toBytes(table),
      list(writable.map((each) => tables[table]?.indexOf(each) ?? -1)),
      list([]),
    ]),
  )
  return Buffer.concat([
    lookups.length > 0 ? Buffer.from([0x80]) : Buffer.alloc(0),
    Buffer.from(header),
    length(keys.length),
    ...keys.map(toBytes),
    Buffer.from(getBase58Encoder().encode(blockhash)),
    length(compiled.length),
    ...compiled,
    lookups.length > 0 ? Buffer.concat([length(written.length), ...written]) : Buffer.alloc(0),
  ])
}

/** Signers that write, signers that read, others that are written, others that are read. */
function arrange({ signers, steps, lookups = [] }: Content): { keys: Address[]; header: number[] } {
  const signing = signers.map(({ address }) => address)
  const uses = steps.flatMap(({ accounts }) => accounts)
  const loaded = new Set(lookups.flatMap(({ writable }) => writable))
  const isWritten = (address: Address) =>
    address === signing[0] || uses.some((use) => use.address === address && use.writes)
  const named = [...uses.map(({ address }) => address), ...steps.map(({ program }) => program)]
  const others = [...new Set(named)].filter((address) => !signing.includes(address) && !loaded.has(address))
  const halves = [signing, others].map((half) => [
    half.filter(isWritten),
    half.filter((address) => !isWritten(address)),
  ])
  const [signed = [], unsigned = []] = halves
  const header = [signing.length, signed[1]?.length ?? 0, unsigned[1]?.length ?? 0]
  return { keys: halves.flat(2), header }
}

function toBytes(address: Address): Buffer {
  return Buffer.from(getAddressEncoder().encode(address))
}

function list(indexes: readonly number[]): Buffer {
  return Buffer.concat([length(indexes.length), Buffer.from(indexes)])
}

function length(value: number): Buffer {
  if (value < 0x80) return Buffer.from([value])
  return Buffer.from([(value & 0x7f) | 0x80, value >> 7])
}

const RECENT_BLOCKHASHES = address('SysvarRecentB1ockHashes11111111111111111111')
const RENT = address('SysvarRent111111111111111111111111111111111')

/** Bytes of a nonce account. */
export const NONCE_ACCOUNT_LENGTH = 80

/** System program: moves lamports. */
export function transfer(from: Address, to: Address, lamports: bigint): Step {
  const accounts = [
    { address: from, signs: true, writes: true },
    { address: to, writes: true },
  ]
  return { program: SYSTEM_PROGRAM, accounts, data: Buffer.concat([u32(2), u64(lamports)]) }
}

/** System program: makes an account; `at` signs as well. */
export function createAccount(
  from: Address,
  at: Address,
  { lamports, space, owner }: { lamports: bigint; space: number; owner: Address },
): Step {
  const accounts = [
    { address: from, signs: true, writes: true },
    { address: at, signs: true, writes: true },
  ]
  const data = Buffer.concat([u32(0), u64(lamports), u64(BigInt(space)), key(owner)])
  return { program: SYSTEM_PROGRAM, accounts, data }
}

/** System program: makes a nonce account of an account. */
export function initializeNonce(nonce: Address, authority: Address): Step {
  const accounts = [{ address: nonce, writes: true }, { address: RECENT_BLOCKHASHES }, { address: RENT }]
  return { program: SYSTEM_PROGRAM, accounts, data: Buffer.concat([u32(6), key(authority)]) }
}

/** System program: uses a durable nonce up. */
export function advanceNonce(nonce: Address, authority: Address): Step {
  const accounts = [
    { address: nonce, writes: true },
    { address: RECENT_BLOCKHASHES },
    { address: authority, signs: true },
  ]
  return { program: SYSTEM_PROGRAM, accounts, data: u32(4) }
}

/** Compute budget program: most compute units. */
export function unitLimit(units: number): Step {
  return {
    program: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: Buffer.concat([Buffer.from([2]), u32(units)]),
  }
}

/** Compute budget program: millionths of a lamport for each unit. */
export function unitPrice(microLamports: bigint): Step {
  return {
    program: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: Buffer.concat([Buffer.from([3]), u64(microLamports)]),
  }
}

function key(of: Address): Buffer {
  return Buffer.from(getAddressEncoder().encode(of))
}

/** Little endian, as all numbers in instructions. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Little endian. */
export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** SPL Token: moves tokens between two token accounts of one mint. */
export function transferTokens(from: Address, to: Address, owner: Address, amount: bigint): Step {
  const accounts = [
    { address: from, writes: true },
    { address: to, writes: true },
    { address: owner, signs: true },
  ]
  return { program: TOKEN_PROGRAM, accounts, data: Buffer.concat([Buffer.from([3]), u64(amount)]) }
}

/** Associated token account program: opens `at` for `owner`, at the cost of `payer`. */
export function openTokenAccount(payer: Address, at: Address, owner: Address, mint: Address): Step {
  const accounts = [
    { address: payer, signs: true, writes: true },
    { address: at, writes: true },
    { address: owner },
    { address: mint },
    { address: SYSTEM_PROGRAM },
    { address: TOKEN_PROGRAM },
  ]
  return { program: ASSOCIATED_TOKEN_PROGRAM, accounts, data: Buffer.from([0]) }
}

/** Address lookup table program: makes the table of `authority` and a recent slot; `bump` is that of its address. */
export function createTable(table: Address, authority: Address, slot: bigint, bump: number): Step {
  const data = Buffer.concat([u32(0), u64(slot), Buffer.from([bump])])
  return { program: LOOKUP_TABLE_PROGRAM, accounts: tableUses(table, authority), data }
}

/** Address lookup table program: adds addresses to a table. */
export function extendTable(table: Address, authority: Address, addresses: readonly Address[]): Step {
  const data = Buffer.concat([u32(2), u64(BigInt(addresses.length)), ...addresses.map(key)])
  return { program: LOOKUP_TABLE_PROGRAM, accounts: tableUses(table, authority), data }
}

function tableUses(table: Address, authority: Address): Step['accounts'] {
  return [
    { address: table, writes: true },
    { address: authority, signs: true },
    { address: authority, signs: true, writes: true },
    { address: SYSTEM_PROGRAM },
  ]
}
