import { useState } from 'preact/hooks'
import { parseJson } from '../../../../clients/typescript/src/exact-json.ts'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { useLoad } from '../../live/use-load.ts'
import { Age } from '../../parts/age.tsx'
import { Json } from '../../parts/json.tsx'
import { Status } from '../../parts/status.tsx'
import type { Column } from '../../parts/table.tsx'
import { Viewer } from '../../parts/viewer.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { useWorkplace } from '../../session/session-context.ts'

type Delivery = Schemas['Delivery']

interface DeliveryColumnsOptions {
  readonly notificationId: string
  /** Rows can be chosen, to send them again. */
  readonly choice: { readonly chosen: ReadonlySet<string>; readonly choose: (id: string) => void } | undefined
}

/** The columns of deliveries. */
export function deliveryColumns({
  notificationId,
  choice,
}: DeliveryColumnsOptions): readonly Column<Delivery>[] {
  const choose: Column<Delivery> = {
    name: 'Choose',
    cell: ({ id, event_number }) => (
      <input
        type="checkbox"
        aria-label={`Choose the delivery of event ${event_number}`}
        checked={choice?.chosen.has(id) ?? false}
        onChange={() => choice?.choose(id)}
      />
    ),
  }
  return [
    ...(choice === undefined ? [] : [choose]),
    { name: 'Event', cell: ({ event, event_number }) => `${event_number} ${event.replaceAll('_', ' ')}` },
    {
      name: 'Status',
      cell: ({ status, error }) => (
        <>
          <Status value={status} />
          {error && <div class="why">{error}</div>}
        </>
      ),
    },
    { name: 'Attempts', isNumber: true, cell: ({ tries }) => tries },
    {
      name: 'Answer',
      isNumber: true,
      isExtra: true,
      cell: ({ response_code, latency_ms }) =>
        response_code === undefined ? '–' : `${response_code} in ${latency_ms} ms`,
    },
    { name: 'Happened', isNumber: true, isExtra: true, cell: ({ created_at }) => <Age of={created_at} /> },
    {
      name: 'Exchange',
      isExtra: true,
      cell: ({ id }) => <Exchange notificationId={notificationId} id={id} />,
    },
  ]
}

function Exchange({ notificationId, id }: { readonly notificationId: string; readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Show
      </button>
      {isOpen && (
        <Viewer title="Exchange" onClose={() => setOpen(false)}>
          <Content notificationId={notificationId} id={id} />
        </Viewer>
      )}
    </>
  )
}

function Content({ notificationId, id }: { readonly notificationId: string; readonly id: string }) {
  const { client } = useWorkplace().session
  const delivery = useLoad(
    (signal) => client.deliveries.get(notificationId, id, { signal }),
    [notificationId, id],
  )
  return (
    <WhenLoaded loaded={delivery}>
      {({ request, response, body }) => (
        <>
          <h3>Sent</h3>
          {request && <Json value={request} name="Request" />}
          <Json value={contentOf(body)} name="Body" />
          {response && (
            <>
              <h3>Answered</h3>
              <Json value={{ ...response, body: contentOf(response.body) }} name="Answer" />
            </>
          )}
        </>
      )}
    </WhenLoaded>
  )
}

/** Text that is JSON is shown as such, and any other as it is. */
function contentOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
