import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { withLocalTimes } from '../../format/times.ts'
import { useLiveReload } from '../../live/use-live.ts'
import { useLoad } from '../../live/use-load.ts'
import { Age } from '../../parts/age.tsx'
import { Failure } from '../../parts/notice.tsx'
import { Status } from '../../parts/status.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { hrefOf, hrefOfRelayer, hrefOfTransaction } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { type AlertGroup, groupAlerts } from './group-alerts.ts'

type Alert = Schemas['Alert']

/** The name of each kind of alert. */
export const ALERT_WORDS: Readonly<Record<Alert['alert'], string>> = {
  balance_low: 'low balance',
  token_balance_high: 'many fee tokens',
  transaction_stuck: 'stuck transaction',
  relayer_disabled: 'relayer disabled',
  endpoint_down: 'endpoint down',
  chain_halted: 'no new blocks',
  budget_nearly_used: 'budget nearly used',
  delivery_dead: 'dead letters',
}

const COLUMNS: readonly Column<AlertGroup>[] = [
  {
    name: 'Alert',
    cell: (group) =>
      [...new Set(group.map(({ alert }) => alert))].map((alert) => (
        <div key={alert}>
          <Status value={ALERT_WORDS[alert] ?? alert} tone="bad" />
        </div>
      )),
  },
  {
    name: 'What to do',
    cell: (group) => group.map(({ message }) => <div key={message}>{withLocalTimes(message)}</div>),
  },
  { name: 'Where', isExtra: true, cell: ([alert]) => <Subject {...alert} /> },
  { name: 'Since', isNumber: true, cell: (group) => <Age of={group.map(({ since }) => since).sort()[0]} /> },
]

/** The alerts that fire, for keys that may read them; nothing when none does. */
export function AlertList() {
  return useWorkplace().session.may('events:read') ? <FiringAlerts /> : null
}

function FiringAlerts() {
  const { session } = useWorkplace()
  const { value, error, reload } = useLoad(
    (signal) => Array.fromAsync(session.client.alerts.list({ signal })),
    ['alerts'],
  )
  useLiveReload(({ type }) => type === 'alert', reload)
  if (error !== undefined) return <Failure error={error} retry={reload} />
  if (value === undefined || value.length === 0) return null
  return (
    <section class="alerts">
      <h2>Alerts</h2>
      <Table
        caption="Alerts"
        columns={COLUMNS}
        rows={groupAlerts(value)}
        keyOf={([{ alert, message }]) => `${alert} ${message}`}
        empty="No active alerts."
      />
    </section>
  )
}

function Subject({ relayer_id, transaction_id, notification_id, api_key_id, network, endpoint }: Alert) {
  if (relayer_id !== undefined && transaction_id !== undefined)
    return <a href={hrefOfTransaction(relayer_id, transaction_id)}>the transaction</a>
  if (relayer_id !== undefined) return <a href={hrefOfRelayer(relayer_id)}>{relayer_id}</a>
  if (notification_id !== undefined)
    return <a href={hrefOf(['notifications', notification_id])}>{notification_id}</a>
  if (api_key_id !== undefined) return <a href={hrefOf(['api-keys', api_key_id])}>{api_key_id}</a>
  if (network !== undefined) return <a href={hrefOf(['networks'])}>{network}</a>
  return endpoint
}
