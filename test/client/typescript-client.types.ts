import type { RelayerClient, Schemas } from '../../clients/typescript/src/index.ts'

/** This file is not run: it compiles if and only if the client has the types that its users expect. */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

type Items<List> = List extends AsyncIterable<infer Item> ? Item : never
type Result<Method extends (...passed: never[]) => unknown> = Awaited<ReturnType<Method>>

type Transactions = RelayerClient['transactions']

export const integersAreBigint: Equal<Result<RelayerClient['relayers']['getBalance']>['balance'], bigint> =
  true
export const listsHaveItems: Equal<Items<ReturnType<Transactions['list']>>, Schemas['Transaction']> = true
export const textIsText: Equal<Result<RelayerClient['health']['get']>, 'OK'> = true

/** Only a dry run answers with one. */
export async function dryRun(transactions: Transactions): Promise<[true, string]> {
  const content = { to: '0x', value: 1n } as const
  const { dry_run } = await transactions.send('main', content, { dry_run: true })
  const { id } = await transactions.send('main', content, { idempotencyKey: 'one' })
  return [dry_run, id]
}

/** Amounts can be written in each form that the contract takes, and nothing else. */
export function amounts(transactions: Transactions): unknown {
  return [
    transactions.send('main', { to: '0x', value: 1n }),
    transactions.send('main', { to: '0x', value: '1' }),
    transactions.send('main', { to: '0x', value: 1 }),
    // @ts-expect-error Amounts are not flags.
    transactions.send('main', { to: '0x', value: true }),
    // @ts-expect-error Reads take no key.
    transactions.get('main', 'id', { idempotencyKey: 'one' }),
  ]
}
