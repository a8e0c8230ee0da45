import { Counter, Histogram, type Registry } from 'prom-client'
import { toWholeUnits } from '../chains/chain.ts'
import { startsAt } from '../transactions/model/due.ts'
import type { TransactionObserver } from '../transactions/model/observer.ts'
import type { Transaction } from '../transactions/model/transaction.ts'
import type { Labels } from './series.ts'

/**
 * Buckets in seconds: from a sequencer's quarter of a second to a transaction that waits an hour for a lower
 * price.
 */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]

const LABELS = ['relayer_id', 'network_type'] as const

/**
 * Counts the transactions of this process. Relayer ids are labels up to a limit; transaction ids never are.
 */
export function createTransactionMetrics(registry: Registry, labels: Labels): TransactionObserver {
  const labelsOf = ({ relayerId, request }: Transaction) => ({
    relayer_id: labels.relayer(relayerId),
    network_type: request.type,
  })
  const { created, submitted, succeeded, failed, fees } = createCounters(registry)
  const observeStage = createStages(registry, labels)
  return {
    created: (transactions) => {
      for (const transaction of transactions) created.inc(labelsOf(transaction))
    },
    submitted: (transactions) => {
      for (const transaction of transactions) {
        submitted.inc(labelsOf(transaction))
        observeStage(transaction, 'creation_to_submission')
      }
    },
    finished: (transactions) => {
      for (const transaction of transactions) {
        if (transaction.status !== 'confirmed') {
          failed.inc({ ...labelsOf(transaction), failure_reason: transaction.status })
          continue
        }
        succeeded.inc(labelsOf(transaction))
        observeStage(transaction, 'submission_to_confirmation')
        observeStage(transaction, 'creation_to_confirmation')
      }
    },
    paid: (payments) => {
      for (const { transaction, fee, unit } of payments) {
        const network = labels.network(transaction.network)
        fees.inc({ ...labelsOf(transaction), network }, toWholeUnits(fee, unit))
      }
    },
  }
}

function createCounters(registry: Registry) {
  const registers = [registry]
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: LABELS, registers })
  return {
    created: counter(
      'transactions_created_total',
      'Transactions accepted, or created by the service itself.',
    ),
    submitted: counter(
      'transactions_submitted_total',
      'Transactions that a node accepted for the first time.',
    ),
    succeeded: counter('transactions_success_total', 'Transactions that were confirmed.'),
    failed: new Counter({
      name: 'transactions_failed_total',
      help: 'Transactions that ended as failed, expired or canceled.',
      labelNames: [...LABELS, 'failure_reason'],
      registers,
    }),
    fees: new Counter({
      name: 'transaction_fees_total',
      help: 'Fees that final transactions took from the relayer, in whole coins of its network (ETH, XLM, SOL).',
      labelNames: [...LABELS, 'network'],
      registers,
    }),
  }
}

type Stage = 'creation_to_submission' | 'submission_to_confirmation' | 'creation_to_confirmation'

/** Records the time of a stage. A stage without a known start or end is not recorded. */
function createStages(registry: Registry, labels: Labels): (transaction: Transaction, stage: Stage) => void {
  const seconds = new Histogram({
    name: 'transaction_processing_seconds',
    help: 'Time that transactions needed for a stage of their life; what waits for its valid_from or for another transaction begins then.',
    labelNames: ['network', 'network_type', 'stage'],
    buckets: BUCKETS,
    registers: [registry],
  })
  return (transaction, stage) => {
    const { network, request, sentAt, confirmedAt } = transaction
    const from = stage === 'submission_to_confirmation' ? sentAt : startsAt(transaction)
    const to = stage === 'creation_to_submission' ? sentAt : confirmedAt
    if (from === undefined || to === undefined) return
    const ofStage = { network: labels.network(network), network_type: request.type, stage }
    seconds.observe(ofStage, (to.getTime() - from.getTime()) / 1000)
  }
}
