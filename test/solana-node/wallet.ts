import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
} from '@solana/kit'

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
