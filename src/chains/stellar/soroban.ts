import {
  InvokeHostFunctionOp,
  Operation,
  OperationBody,
  type SorobanAuthorizationEntry,
  SorobanTransactionData,
  type Transaction,
  TransactionExt,
} from '@stellar/stellar-sdk/xdr'
import type { Answer } from '../answer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { withFields } from './envelope.ts'
import type { SorobanAuth } from './operation.ts'
import { type Simulation, simulate } from './simulate.ts'

/**
 * Added to the resource fee, in percent: rent and the size of what is read may have grown by the time of the ledger. What is
 * above the used part of it is given back (CAP-46-07, "refundable fee").
 */
const RESOURCE_MARGIN_PERCENT = 15n

/** Content that is ready, or what has to be restored before. */
export type Assembled =
  | { readonly kind: 'ready'; readonly tx: Transaction }
  | { readonly kind: 'restore'; readonly transactionData: string }

/** Whether a transaction is one of smart contracts. */
export function isSorobanTransaction({ operations }: Transaction): boolean {
  const [first] = operations
  return (
    first?.body.type === 'invokeHostFunction' ||
    first?.body.type === 'extendFootprintTtl' ||
    first?.body.type === 'restoreFootprint'
  )
}

/** Fills in resources, resource fee and authorization, as a simulation finds them needed. */
export async function assemble(
  client: PooledClient,
  tx: Transaction,
  auth: SorobanAuth | undefined,
): Promise<Answer<Assembled>> {
  const answer = await simulate(client, tx)
  if (answer.kind !== 'ok') return answer
  const simulation = answer.value
  if (simulation.restore !== undefined) {
    return { kind: 'ok', value: { kind: 'restore', transactionData: simulation.restore } }
  }
  const missing = missingAuth(simulation.auth, auth)
  if (missing !== undefined) {
    return { kind: 'refused', refusal: { code: 'execution_reverted', detail: missing } }
  }
  const operations = tx.operations.map((operation) => withAuth(operation, simulation))
  const filled = withResources(withFields(tx, { operations }), simulation.data, simulation.resourceFee)
  return { kind: 'ok', value: { kind: 'ready', tx: filled } }
}

/** The transaction with these resources and their fee, margin included. */
export function withResources(
  tx: Transaction,
  { ext, resources }: SorobanTransactionData,
  minResourceFee: bigint,
): Transaction {
  const resourceFee = (minResourceFee * (100n + RESOURCE_MARGIN_PERCENT) + 99n) / 100n
  const data = new SorobanTransactionData({ ext, resources, resourceFee })
  return withFields(tx, { ext: TransactionExt.sorobanData(data) })
}

/** What nobody here can sign. The source's own agreement is its signature under the transaction. */
function missingAuth(
  found: readonly SorobanAuthorizationEntry[],
  auth: SorobanAuth | undefined,
): string | undefined {
  if (found.length > 0 && auth?.type === 'none') {
    return 'operations[0].auth: the call asks for an authorization, so none is not enough.'
  }
  return found.some(({ credentials }) => credentials.type !== 'sorobanCredentialsSourceAccount')
    ? "operations[0].auth: the call asks for the authorization of others than the relayer's own account; give their signed entries as xdr."
    : undefined
}

/** Entries that the caller gave stay as they are; the node has run the call with them. */
function withAuth(operation: Operation, { auth }: Simulation): Operation {
  const { body, sourceAccount } = operation
  if (body.type !== 'invokeHostFunction' || body.invokeHostFunctionOp.auth.length > 0) return operation
  const { hostFunction } = body.invokeHostFunctionOp
  const invocation = new InvokeHostFunctionOp({ hostFunction, auth: [...auth] })
  return new Operation({ sourceAccount, body: OperationBody.invokeHostFunction(invocation) })
}
