import type { InnerInstruction } from 'litesvm'
import { invalidParams, RpcFault } from '../../json-rpc.ts'
import type { AppliedTransaction } from '../chain/block.ts'
import { base58 } from '../runtime/bytes.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../runtime/programs.ts'
import { type TokenBalance, writeUnits } from '../runtime/token.ts'
import type { WireTransaction } from '../runtime/transaction.ts'
import { type Config, numberParam, UNSUPPORTED_TRANSACTION_VERSION } from './params.ts'
import { resultOf } from './statuses.ts'

type Inner = readonly (readonly InnerInstruction[])[]

/** Writes the calls of programs, under the instruction that made them; accounts and programs are indexes of the keys. */
function writeInner(inner: Inner): unknown[] {
  return group(inner, (each) => {
    const instruction = each.instruction()
    return {
      programIdIndex: instruction.programIdIndex(),
      accounts: [...instruction.accounts()],
      data: base58(instruction.data()),
      stackHeight: each.stackHeight(),
    }
  })
}

/**
 * The same with addresses, as `simulateTransaction` writes it. A node decodes the calls of programs that it knows; here that
 * is `TransferChecked` alone.
 */
export function writeInnerByAddress(inner: Inner, keys: readonly string[]): unknown[] {
  return group(inner, (each) => {
    const instruction = each.instruction()
    const programId = keys[instruction.programIdIndex()] ?? ''
    const accounts = [...instruction.accounts()].map((index) => keys[index])
    const data = Buffer.from(instruction.data())
    const parsed = parsedTransfer(programId, accounts, data)
    return { programId, ...(parsed ?? { accounts, data: base58(data) }), stackHeight: each.stackHeight() }
  })
}

const PROGRAM_NAMES: ReadonlyMap<string, string> = new Map<string, string>([
  [TOKEN_PROGRAM, 'spl-token'],
  [TOKEN_2022_PROGRAM, 'spl-token-2022'],
])

/** `TransferChecked` with one signer (agave transaction-status `parse_token.rs`). */
function parsedTransfer(programId: string, accounts: readonly (string | undefined)[], data: Buffer) {
  const program = PROGRAM_NAMES.get(programId)
  if (program === undefined || data[0] !== 12 || data.length < 10 || accounts.length !== 4) return undefined
  const [source, mint, destination, authority] = accounts
  const [amount, decimals] = [data.readBigUInt64LE(1), data.readUInt8(9)]
  const text = writeUnits(amount, decimals)
  const tokenAmount = { amount: String(amount), decimals, uiAmount: Number(text), uiAmountString: text }
  return {
    program,
    parsed: { type: 'transferChecked', info: { source, mint, destination, authority, tokenAmount } },
  }
}

function group(inner: Inner, write: (each: InnerInstruction) => unknown): unknown[] {
  return inner.flatMap((calls, index) =>
    calls.length > 0 ? [{ index, instructions: calls.map((each) => write(each)) }] : [],
  )
}

/** A transaction of a block with what it did, as `getTransaction` and `getBlock` write it. */
export function writeApplied(applied: AppliedTransaction, config: Config): Record<string, unknown> {
  const { transaction } = applied
  const { encoding = 'json' } = config
  const version = versionOf(transaction, numberParam(config.maxSupportedTransactionVersion))
  return { transaction: writeTransaction(transaction, encoding), meta: writeMeta(applied), ...version }
}

/** The version is told to clients that say that they know versions; others get none but legacy ones. */
function versionOf({ message }: WireTransaction, most: number | undefined): { version?: unknown } {
  const { version } = message
  if (most !== undefined) return { version }
  if (version === 'legacy') return {}
  const message_ =
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
    `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`
  throw new RpcFault(UNSUPPORTED_TRANSACTION_VERSION, message_)
}

function writeTransaction(transaction: WireTransaction, encoding: unknown): unknown {
  if (encoding === 'base64') return [Buffer.from(transaction.bytes).toString('base64'), 'base64']
  if (encoding === 'base58') return [base58(transaction.bytes), 'base58']
  if (encoding !== 'json') throw invalidParams(`encoding ${JSON.stringify(encoding)} is not spoken here`)
  return { message: writeMessage(transaction), signatures: transaction.signatures.map(base58) }
}

function writeMessage({ message }: WireTransaction): unknown {
  const { header, keys, blockhash, instructions, lookups, version } = message
  const tables = lookups.map(({ table, writable, readonly }) => ({
    accountKey: table,
    writableIndexes: writable,
    readonlyIndexes: readonly,
  }))
  return {
    header: {
      numRequiredSignatures: header.requiredSignatures,
      numReadonlySignedAccounts: header.readonlySigned,
      numReadonlyUnsignedAccounts: header.readonlyUnsigned,
    },
    accountKeys: keys,
    recentBlockhash: blockhash,
    instructions: instructions.map(({ programIndex, accounts, data }) => ({
      programIdIndex: programIndex,
      accounts,
      data: base58(data),
      stackHeight: 1,
    })),
    ...(version === 'legacy' ? {} : { addressTableLookups: tables }),
  }
}

function writeMeta({ err, fee, before, after, meta, loaded }: AppliedTransaction): unknown {
  return {
    err,
    status: resultOf(err),
    fee,
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: before.tokens.map(writeTokenBalance),
    postTokenBalances: after.tokens.map(writeTokenBalance),
    innerInstructions: writeInner(meta.innerInstructions()),
    logMessages: meta.logs(),
    loadedAddresses: loaded,
    computeUnitsConsumed: meta.computeUnitsConsumed(),
    rewards: [],
  }
}

function writeTokenBalance({ accountIndex, mint, owner, program, amount, decimals }: TokenBalance): unknown {
  const text = writeUnits(amount, decimals)
  const uiTokenAmount = { amount: String(amount), decimals, uiAmount: Number(text), uiAmountString: text }
  return { accountIndex, mint, owner, programId: program, uiTokenAmount }
}
