import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Currency, withAmounts } from '../../format/amounts.ts'
import { formatDuration, withLocalTimes } from '../../format/times.ts'
import type { Loaded } from '../../live/use-load.ts'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'

type Diagnosis = Schemas['Diagnosis']

interface DiagnosisPanelProps {
  readonly diagnosis: Loaded<Diagnosis | undefined>
  readonly currency: Currency
}

/** Says why a transaction is where it is, and what the service does next. */
export function DiagnosisPanel({ diagnosis, currency }: DiagnosisPanelProps) {
  return (
    <Panel
      title="Why is it waiting?"
      actions={
        <button type="button" onClick={diagnosis.reload} disabled={diagnosis.isLoading}>
          Refresh
        </button>
      }
    >
      <WhenLoaded loaded={diagnosis}>
        {(found) => found && <Findings diagnosis={found} currency={currency} />}
      </WhenLoaded>
    </Panel>
  )
}

function Findings({
  diagnosis: { summary, findings, queue, next_action: next, confirmations, endpoints },
  currency,
}: {
  readonly diagnosis: Diagnosis
  readonly currency: Currency
}) {
  const told = (sentence: string) => withAmounts(withLocalTimes(sentence), currency)
  return (
    <>
      <p class="summary">{told(summary)}</p>
      {findings.length > 1 && (
        <ul class="findings">
          {findings.slice(1).map(({ code, message }) => (
            <li key={code}>{told(message)}</li>
          ))}
        </ul>
      )}
      <Facts
        facts={{
          'Next step': (
            <>
              {told(next.message)} <span class="muted">{timeTo(next.at)}</span>
            </>
          ),
          Queue: `${queue.position} before it, ${queue.in_flight} of ${queue.in_flight_limit} in flight`,
          Confirmations:
            confirmations &&
            `block ${confirmations.block}, newest ${confirmations.head ?? 'unknown'}, ${confirmations.required} needed`,
          Endpoints: endpoints.map(({ host, healthy, error }) => (
            <div key={host}>
              <Status value={healthy ? 'up' : 'down'} tone={healthy ? 'good' : 'bad'} /> {host}{' '}
              <span class="muted">{error}</span>
            </div>
          )),
        }}
      />
    </>
  )
}

/** The service does what is due at once, so a time that has passed tells nothing. */
function timeTo(at: string | undefined): string {
  const left = at === undefined ? 0 : Date.parse(at) - Date.now()
  return left < 1_000 ? '' : `in ${formatDuration(left)}`
}
