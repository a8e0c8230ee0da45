import { getBase58Decoder, getBase58Encoder } from '@solana/kit'
import { type CompiledInstruction, lookupsOf, type Message } from './message.ts'

/** An account of a transaction, and the rights of its instructions on it. */
export interface TransactionAccount {
  readonly address: string
  readonly signer: boolean
  readonly writable: boolean
}

/** The addresses that a message loads from address tables, in the order of the message's lookups. */
export type LoadedAddresses = readonly {
  readonly writable: readonly string[]
  readonly readonly: readonly string[]
}[]

/**
 * Returns every account of a message by index: its static accounts, then the writable and then the read-only
 * ones from tables. Without `loaded` it returns only the static accounts.
 */
export function accountsOf(message: Message, loaded: LoadedAddresses = []): TransactionAccount[] {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  const firstReadonly = message.staticAccounts.length - numReadonlyNonSignerAccounts
  const standing = message.staticAccounts.map((address, index) => {
    const signer = index < numSignerAccounts
    const writable = signer ? index < numSignerAccounts - numReadonlySignerAccounts : index < firstReadonly
    return { address, signer, writable }
  })
  const fromTables = (addresses: readonly string[], writable: boolean) =>
    addresses.map((address) => ({ address, signer: false, writable }))
  return [
    ...standing,
    ...fromTables(
      loaded.flatMap(({ writable }) => writable),
      true,
    ),
    ...fromTables(
      loaded.flatMap((lookup) => lookup.readonly),
      false,
    ),
  ]
}

/**
 * Returns the accounts that an instruction receives. Where `accounts` are not complete, unknown ones are left
 * out.
 */
export function instructionAccounts(
  accounts: readonly TransactionAccount[],
  { accountIndices = [] }: CompiledInstruction,
): TransactionAccount[] {
  return accountIndices.flatMap((index) => accounts[index] ?? [])
}

/** Returns the addresses of the tables that have to be read before all accounts are known. */
export function tablesOf(message: Message): string[] {
  return lookupsOf(message).map(({ lookupTableAddress }) => lookupTableAddress)
}

const toBytes = getBase58Encoder()
const toText = getBase58Decoder()

const ALPHABET = /^[1-9A-HJ-NP-Za-km-z]+$/

/** The length of an ed25519 public key, of a program's address and of a blockhash, in bytes. */
export const KEY_BYTES = 32

/** Encodes bytes in base58. */
export function encodeBase58(bytes: Uint8Array): string {
  return toText.decode(bytes)
}

/** Decodes base58; undefined for other text. */
export function decodeBase58(text: string): Uint8Array | undefined {
  return ALPHABET.test(text) ? Uint8Array.from(toBytes.encode(text)) : undefined
}

/** Returns true if the text is 32 bytes in base58. */
export function isAddress(text: string): boolean {
  return text.length >= 32 && text.length <= 44 && decodeBase58(text)?.length === KEY_BYTES
}

/**
 * Returns the 32 bytes of an address that was checked before, or created by the service.
 * @throws Error for anything else
 */
export function addressBytes(address: string): Uint8Array {
  const bytes = decodeBase58(address)
  if (bytes?.length !== KEY_BYTES) throw new Error(`${address} is no address`)
  return bytes
}

/** Programs of the network and of common wallets, base58. */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
/** The first version of the memo program, which some wallets still call. */
export const MEMO_V1_PROGRAM = 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVddwQDxFMNo'
export const ADDRESS_LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111'
export const RECENT_BLOCKHASHES_SYSVAR = 'SysvarRecentB1ockHashes11111111111111111111'

/**
 * Programs that verify signatures inside instructions; the network charges each of these signatures like one
 * of the transaction's own (agave `compute-budget`/`fee`: `get_signature_details`). Their data begins with
 * the number of signatures.
 */
export const PRECOMPILES: readonly string[] = [
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]

/**
 * Programs that are part of the validator (agave `builtins-default-costs`), without those that have become,
 * or may become, programs of the chain: the validator gives these as many units as any other program.
 */
export const BUILTINS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
])
