import type { Address } from '@solana/kit'
import { invalidParams } from '../../json-rpc.ts'
import { lastValidBlockHeight } from '../chain/age.ts'
import { loadAddresses } from '../chain/lookup-tables.ts'
import type { Commitment, Node } from '../node.ts'
import type { AccountState } from '../runtime/account.ts'
import { SYSTEM_PROGRAM } from '../runtime/programs.ts'
import { isSigned } from '../runtime/sanitize.ts'
import type { WireTransaction } from '../runtime/transaction.ts'
import { writeAccount } from './accounts.ts'
import {
  addressParam,
  configParam,
  contextParam,
  listParam,
  type Params,
  stringParam,
  withContext,
} from './params.ts'
import { type Simulation, simulate, writeSimulation } from './simulation.ts'
import { writeInnerByAddress } from './transaction-json.ts'
import { encodingParam, refuseUnusable, transactionParam } from './wire.ts'

/** Says what a transaction would do; nothing is kept (agave rpc.rs `simulate_transaction`). */
export function simulateTransaction(node: Node, [text, options]: Params): unknown {
  const config = configParam(options)
  const transaction = transactionParam(stringParam(text), encodingParam(config.encoding))
  const commitment = contextParam(node, config)
  refuseUnusable(node, transaction, commitment)
  const replaces = config.replaceRecentBlockhash === true
  if (replaces && config.sigVerify === true) {
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
  }
  const simulation =
    config.sigVerify === true && !isSigned(transaction)
      ? { err: 'SignatureFailure', execution: undefined }
      : simulate(node, transaction, commitment, !replaces)
  return withContext(node, commitment, {
    ...writeSimulation(simulation),
    accounts: accountsAfter(node, { commitment, simulation, transaction, wanted: config.accounts }),
    innerInstructions:
      config.innerInstructions === true ? innerOf(node, commitment, transaction, simulation) : null,
    replacementBlockhash: replaces ? replacementOf(node, commitment) : null,
  })
}

/** A node reports this, in place of null, for an account that the transaction names and that does not exist after it. */
const NOTHING: AccountState = {
  lamports: 0n,
  data: new Uint8Array(),
  owner: SYSTEM_PROGRAM,
  executable: false,
}

interface Wanted {
  readonly commitment: Commitment
  readonly simulation: Simulation
  readonly transaction: WireTransaction
  /** The option `accounts`: addresses, and how to write them. */
  readonly wanted: unknown
}

/** The accounts that were asked for, as they would be after it; null for each when it fails. */
function accountsAfter(node: Node, { commitment, simulation, transaction, wanted }: Wanted): unknown {
  if (wanted === undefined || wanted === null) return null
  const { addresses, encoding = 'base64' } = configParam(wanted)
  const asked = listParam(addresses, addressParam)
  const keys = keysOf(node, commitment, transaction)
  if (encoding === 'base58') throw invalidParams('base58 encoding not supported')
  if (asked.length > keys.length) throw invalidParams(`Too many accounts provided; max ${keys.length}`)
  const { err, execution } = simulation
  if (err !== null) return asked.map(() => null)
  return asked.map((address) => {
    const after = execution?.postAccounts.get(address) ?? node.account(address, commitment)
    return writeAccount(after ?? (keys.includes(address) ? NOTHING : undefined), { encoding })
  })
}

function innerOf(
  node: Node,
  commitment: Commitment,
  transaction: WireTransaction,
  { execution }: Simulation,
): unknown {
  return writeInnerByAddress(execution?.meta.innerInstructions() ?? [], keysOf(node, commitment, transaction))
}

function keysOf(node: Node, commitment: Commitment, { message }: WireTransaction): Address[] {
  const { writable, readonly } = loadAddresses(message, (address) => node.account(address, commitment))
  return [...message.keys, ...writable, ...readonly]
}

function replacementOf(node: Node, commitment: Commitment): unknown {
  const { blockhash } = node.block(commitment)
  const height = lastValidBlockHeight(blockhash, node.standpoint(commitment))
  return { blockhash, lastValidBlockHeight: height }
}
