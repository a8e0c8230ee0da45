import { userInfo } from 'node:os'
import { CLI_AUTHOR } from '../audit/entry.ts'
import { findConfig } from '../config/api-access.ts'
import type { Schemas } from '../contract/operations.ts'
import { migrate } from '../database/migrate.ts'
import { listUndecided, type UndecidedTransaction } from '../transactions/store/decisions-store.ts'
import { type DecisionOutcome, decideTransaction } from '../transactions/watch/decide.ts'
import { type ApiClient, createApiClient, pathOf, queryOf } from './api/api-command.ts'
import { type Arguments, type Command, EXIT, type Terminal, UsageError } from './command.ts'
import { openUnlessServed } from './open-database.ts'
import { readUnfinished } from './restore/unfinished.ts'

/** `relayer tx decide`. */
export const txDecide: Command = {
  name: 'tx decide',
  summary: 'Decide a transaction whose inclusion no endpoint can prove.',
  usage: '<transaction id> --included|--not-included --reason <text> [--attempt <number>|--hash <hash>]',
  help: [
    'The service ends a transaction, or signs it again, only when the chain proves whether it was included. If no endpoint has the',
    'history any more, the transaction stays open, and the event transaction_undecided reports it. Check the account in a block',
    'explorer, then use one of these:',
    '',
    '  --not-included  No attempt is in the chain. It is signed again, or ends if valid_until has passed. If this is wrong, it is paid twice.',
    '  --included      A block includes it. It ends as confirmed and is never sent again. If this is wrong, it is not paid.',
    '  --attempt       The number of the included attempt; default: the newest.',
    '  --hash          The hash of what was included, if it was signed with another database; the record then shows it.',
    '  --reason        The observation, for the record (table operator_decisions, status_reason).',
    '',
    'A pending transaction of a restored database can be decided as well while its relayer is paused or disabled.',
    'If the chain shows an inclusion later, it overrides the decision. Without an id, the command lists the waiting transactions.',
    'Uses the database of DATABASE_URL or DATA_DIR. If a running service has the embedded database open, and on a machine without a',
    'configuration, the command uses the API of the service at RELAYER_URL with RELAYER_API_KEY.',
    '',
    'Example: relayer tx decide 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11 --not-included --reason "explorer shows no such transfer"',
  ],
  options: ['reason', 'attempt', 'hash'],
  flags: ['included', 'not-included'],
  maxPositionals: 1,
  async run(args, terminal) {
    const decision = readDecision(args)
    const database = await openUnlessServed(findConfig())
    if (database === undefined) return decideOverApi(createApiClient(), decision, terminal)
    try {
      await migrate(database)
      const waiting = await listUndecided(database.db)
      if (decision === undefined) return list(waiting, terminal)
      const outcome = await decideTransaction(
        database.db,
        { ...decision, decidedBy: operatorName() },
        { author: CLI_AUTHOR, now: new Date() },
      )
      return report(outcome, decision, terminal)
    } finally {
      await database.close()
    }
  },
}

/**
 * Returns the name of the user who runs the command. A container can run as a number that has no name there.
 */
function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.()}`
  }
}

interface DecisionArguments {
  readonly transactionId: string
  readonly included: boolean
  readonly attempt: number | undefined
  readonly hash: string | undefined
  readonly reason: string
}

/** Reads the decision from the command line. Undefined to list the waiting transactions. */
function readDecision({
  positionals: [transactionId],
  options,
  flags,
}: Arguments): DecisionArguments | undefined {
  const included = flags.has('included')
  if (transactionId === undefined && flags.size === 0) return undefined
  if (transactionId === undefined)
    throw new UsageError('Name the transaction: relayer tx decide <transaction id> …')
  if (included === flags.has('not-included'))
    throw new UsageError('Pass either --included or --not-included.')
  const { reason, attempt, hash } = options
  if (reason === undefined || reason.trim() === '')
    throw new UsageError('Describe the observation: --reason "…". It is stored with the decision.')
  if (attempt !== undefined && (!included || !/^[1-9][0-9]{0,5}$/.test(attempt)))
    throw new UsageError('--attempt is the number of an attempt, and needs --included.')
  if (hash !== undefined && (!included || attempt !== undefined))
    throw new UsageError('--hash is the hash of what was included: it needs --included, and no --attempt.')
  return {
    transactionId,
    included,
    attempt: attempt === undefined ? undefined : Number(attempt),
    hash,
    reason,
  }
}

async function decideOverApi(
  client: ApiClient,
  decision: DecisionArguments | undefined,
  terminal: Terminal,
): Promise<number> {
  if (decision === undefined) return list(await readUndecided(client), terminal)
  const { transactionId, ...body } = decision
  const { data } = await client.call<Schemas['Transaction'][]>(
    'GET',
    `/transactions${queryOf({ id: transactionId })}`,
  )
  const [found] = data
  if (found === undefined) return report('no_such_transaction', decision, terminal)
  const path = pathOf('relayers', found.relayer_id, 'transactions', transactionId, 'decision')
  const { data: now } = await client.call<Schemas['Transaction']>('POST', path, {
    body: JSON.stringify(body),
  })
  return report(now.status === 'confirmed' ? 'applied' : 'stored', decision, terminal)
}

async function readUndecided(client: ApiClient): Promise<Listed[]> {
  const unfinished = await readUnfinished(client)
  return unfinished.flatMap(({ transactions }) =>
    transactions.flatMap(
      ({ id, relayer_id: relayerId, undecided_since: since, status_reason: statusReason }) =>
        since === undefined ? [] : [{ id, relayerId, undecidedSince: new Date(since), statusReason }],
    ),
  )
}

/** A row of the list of transactions that wait for a decision. */
type Listed = Pick<UndecidedTransaction, 'id' | 'relayerId' | 'undecidedSince' | 'statusReason'>

function list(waiting: readonly Listed[], terminal: Terminal): number {
  if (waiting.length === 0) terminal.out('no transaction waits for a decision')
  for (const { id, relayerId, undecidedSince, statusReason } of waiting)
    terminal.out(
      `${id}  relayer ${relayerId}  since ${undecidedSince.toISOString()}  ${statusReason ?? ''}`.trimEnd(),
    )
  return EXIT.ok
}

const REFUSALS: Readonly<Record<Exclude<DecisionOutcome, 'stored' | 'applied'>, string>> = {
  no_such_transaction: 'There is no transaction with this id.',
  not_undecided:
    'This transaction does not wait for a decision: the chain decides. relayer tx decide lists those that do.',
  still_signing: 'This transaction is pending, and its relayer could sign it. Pause the relayer first.',
  unknown_attempt: 'It has no attempt with this number.',
}

function report(
  outcome: DecisionOutcome,
  { transactionId, included, attempt, hash }: DecisionArguments,
  terminal: Terminal,
): number {
  if (outcome !== 'stored' && outcome !== 'applied') {
    terminal.err(REFUSALS[outcome])
    return EXIT.unusable
  }
  const which = attempt === undefined ? (hash ?? '') : `attempt ${attempt}`
  const decided = included ? `included${which === '' ? '' : ` as ${which}`}` : 'not included'
  const when = outcome === 'applied' ? 'the record has it' : 'the service applies it at the next block'
  terminal.out(`${transactionId}: ${decided}; ${when}`)
  return EXIT.ok
}
