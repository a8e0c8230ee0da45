import type { Address } from '@solana/kit'
import { invalidParams } from '../../json-rpc.ts'
import type { Node } from '../node.ts'
import type { AccountState } from '../runtime/account.ts'
import { base58 } from '../runtime/bytes.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../runtime/programs.ts'
import { readTokenAccount, type TokenAccount } from '../runtime/token.ts'
import {
  addressParam,
  type Config,
  configParam,
  contextParam,
  listParam,
  numberParam,
  type Params,
  withContext,
} from './params.ts'

/** Rent is not collected from accounts that are exempt, which all are (rent-collector `RENT_EXEMPT_RENT_EPOCH`). */
const RENT_EPOCH = 18_446_744_073_709_551_615n

/** Most accounts of one call (agave rpc-client-api `MAX_MULTIPLE_ACCOUNTS`). */
const MAX_MULTIPLE_ACCOUNTS = 100

/** Lamports of the account, 0 where there is none. */
export function getBalance(node: Node, [address, config]: Params): unknown {
  const commitment = contextParam(node, config)
  return withContext(node, commitment, node.account(addressParam(address), commitment)?.lamports ?? 0n)
}

/** The account, or null. */
export function getAccountInfo(node: Node, [address, config]: Params): unknown {
  const commitment = contextParam(node, config)
  const account = node.account(addressParam(address), commitment)
  return withContext(node, commitment, writeAccount(account, configParam(config)))
}

/** The accounts, each of them or null. */
export function getMultipleAccounts(node: Node, [list, config]: Params): unknown {
  const commitment = contextParam(node, config)
  const addresses = listParam(list, addressParam)
  if (addresses.length > MAX_MULTIPLE_ACCOUNTS) {
    throw invalidParams(`Too many inputs provided; max ${MAX_MULTIPLE_ACCOUNTS}`)
  }
  const write = (address: Address) => writeAccount(node.account(address, commitment), configParam(config))
  return withContext(node, commitment, addresses.map(write))
}

/** Lamports that an account with this many bytes has to hold. */
export function getMinimumBalanceForRentExemption({ chain }: Node, [length]: Params): unknown {
  const bytes = numberParam(length)
  if (bytes === undefined) throw invalidParams('`params` should have at least 1 argument(s)')
  return chain.vm.rentExemption(bytes)
}

/** An account as JSON-RPC writes it, in base58 or base64; null where there is none. */
export function writeAccount(account: AccountState | undefined, config: Config): unknown {
  const encoding = config.encoding ?? 'base58'
  if (account === undefined) return null
  const { lamports, data, owner, executable } = account
  const written = writeData(slice(data, configParam(config.dataSlice)), encoding)
  return { lamports, data: written, owner, executable, rentEpoch: RENT_EPOCH, space: data.length }
}

function slice(data: Uint8Array, { offset, length }: Config): Uint8Array {
  const start = numberParam(offset) ?? 0
  return data.subarray(start, start + (numberParam(length) ?? data.length))
}

function writeData(data: Uint8Array, encoding: unknown): [string, string] {
  if (encoding === 'base64') return [Buffer.from(data).toString('base64'), 'base64']
  if (encoding !== 'base58') throw invalidParams(`encoding ${JSON.stringify(encoding)} is not spoken here`)
  if (data.length <= 128) return [base58(data), 'base58']
  throw invalidParams(
    'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
  )
}

/** The token accounts of this owner, of one mint or of one token program. */
export function getTokenAccountsByOwner(node: Node, [owner, filter, config]: Params): unknown {
  const commitment = contextParam(node, config)
  const of = addressParam(owner)
  const fits = filterParam(filter)
  const accounts = [...node.chain.accounts.addresses()].flatMap((pubkey) => {
    const account = node.account(pubkey, commitment)
    const token = readTokenAccount(account)
    return token?.owner === of && fits(token)
      ? [{ pubkey, account: writeAccount(account, configParam(config)) }]
      : []
  })
  return withContext(node, commitment, accounts)
}

function filterParam(value: unknown): (token: TokenAccount) => boolean {
  const filter = configParam(value)
  if (filter.mint !== undefined) {
    const mint = addressParam(filter.mint)
    return (token) => token.mint === mint
  }
  const program = addressParam(filter.programId)
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) {
    throw invalidParams('Invalid param: unrecognized Token program id')
  }
  return (token) => token.program === program
}
