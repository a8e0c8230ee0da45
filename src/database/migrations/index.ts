import type { Migration } from 'kysely/migration'
import * as initial from './0001-initial.ts'
import * as finishedCounts from './0002-finished-counts.ts'
import * as lines from './0003-lines.ts'
import * as events from './0004-events.ts'
import * as idempotency from './0005-idempotency.ts'
import * as managed from './0006-managed.ts'
import * as innerHash from './0007-inner-hash.ts'
import * as incidents from './0008-incidents.ts'
import * as fieldNames from './0009-field-names.ts'
import * as maskedUrls from './0011-masked-urls.ts'
import * as deliveryCursors from './0012-delivery-cursors.ts'
import * as chainResets from './0013-chain-resets.ts'
import * as streamTickets from './0014-stream-tickets.ts'
import * as eventNumbers from './0015-event-numbers.ts'
import * as roomForUpdates from './0016-room-for-updates.ts'
import * as quietHealth from './0017-quiet-health.ts'
import * as fewerIndexEntries from './0018-fewer-index-entries.ts'
import * as remoteSigners from './0020-remote-signers.ts'
import * as apiKeys from './0021-api-keys.ts'
import * as audit from './0022-audit.ts'
import * as spending from './0023-spending.ts'
import * as rateLimits from './0024-rate-limits.ts'
import * as approvals from './0025-approvals.ts'
import * as validFrom from './0026-valid-from.ts'
import * as privateTransactions from './0027-private-transactions.ts'
import * as contractInterfaces from './0028-contract-interfaces.ts'
import * as requestedBy from './0029-requested-by.ts'
import * as alerts from './0030-alerts.ts'
import * as traceParent from './0031-trace-parent.ts'
import * as topUps from './0032-top-ups.ts'
import * as fewerRowVersions from './0033-fewer-row-versions.ts'
import * as shorterLog from './0034-shorter-log.ts'
import * as relayerRows from './0035-relayer-rows.ts'
import * as pageFill from './0036-page-fill.ts'
import * as pendingOrder from './0037-pending-order.ts'
import * as refusals from './0040-refusals.ts'
import * as awaitedPrices from './0044-awaited-prices.ts'
import * as abiAuthors from './0045-abi-authors.ts'
import * as knownNonces from './0046-known-nonces.ts'
import * as watchedStates from './0052-watched-states.ts'
import * as skippedEventNumbers from './0053-skipped-event-numbers.ts'
import * as knownSlots from './0055-known-slots.ts'

/** All migrations in order. They are forward only: a released migration is never edited; the next one corrects it. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
  '0002-finished-counts': finishedCounts,
  '0003-lines': lines,
  '0004-events': events,
  '0005-idempotency': idempotency,
  '0006-managed': managed,
  '0007-inner-hash': innerHash,
  '0008-incidents': incidents,
  '0009-field-names': fieldNames,
  '0011-masked-urls': maskedUrls,
  '0012-delivery-cursors': deliveryCursors,
  '0013-chain-resets': chainResets,
  '0014-stream-tickets': streamTickets,
  '0015-event-numbers': eventNumbers,
  '0016-room-for-updates': roomForUpdates,
  '0017-quiet-health': quietHealth,
  '0018-fewer-index-entries': fewerIndexEntries,
  '0020-remote-signers': remoteSigners,
  '0021-api-keys': apiKeys,
  '0022-audit': audit,
  '0023-spending': spending,
  '0024-rate-limits': rateLimits,
  '0025-approvals': approvals,
  '0026-valid-from': validFrom,
  '0027-private-transactions': privateTransactions,
  '0028-contract-interfaces': contractInterfaces,
  '0029-requested-by': requestedBy,
  '0030-alerts': alerts,
  '0031-trace-parent': traceParent,
  '0032-top-ups': topUps,
  '0033-fewer-row-versions': fewerRowVersions,
  '0034-shorter-log': shorterLog,
  '0035-relayer-rows': relayerRows,
  '0036-page-fill': pageFill,
  '0037-pending-order': pendingOrder,
  '0040-refusals': refusals,
  '0044-awaited-prices': awaitedPrices,
  '0045-abi-authors': abiAuthors,
  '0046-known-nonces': knownNonces,
  '0052-watched-states': watchedStates,
  '0053-skipped-event-numbers': skippedEventNumbers,
  '0055-known-slots': knownSlots,
}
