import { useState } from 'preact/hooks'
import { stringifyJson } from '../../../../clients/typescript/src/exact-json.ts'
import type { Body } from '../../../../clients/typescript/src/index.ts'
import { indentJson } from '../../format/indent-json.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Notice } from '../../parts/notice.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import type { ChangeDialogProps } from './change-dialogs.tsx'
import { DryRunPreview } from './dry-run-preview.tsx'
import { priceOf, speedUpOf } from './replacement.ts'
import { useDryRun } from './use-dry-run.ts'

type Request = Body<'replaceTransaction'>

/** Asks for the whole new content, as JSON of the API, and shows what it would do before it is sent. */
export function ReplaceDialog({ transaction, currency, ...rest }: ChangeDialogProps) {
  const { client } = useWorkplace().session
  const isEvm = transaction.network_type === 'evm'
  const [text, setText] = useState(() =>
    isEvm ? indent({ ...speedUpOf(transaction), speed: 'fast' }) : '{}',
  )
  const [asked, setAsked] = useState<string>()
  const request = asked === text ? parse(text) : undefined
  const dryRun = useDryRun(transaction, request)
  const isUnreadable = parse(text) === undefined
  return (
    <ActionDialog
      {...rest}
      title="Replace"
      confirm="Replace it"
      isReady={request !== undefined && dryRun.value?.accepted === true}
      act={async () =>
        request && (await client.transactions.replace(transaction.relayer_id, transaction.id, request))
      }
    >
      <label>
        The complete new request
        <textarea
          rows={9}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {isUnreadable && (
        <Notice tone="warn">
          This is not a JSON object yet. Write amounts as text, such as "1000", so that they keep every digit.
        </Notice>
      )}
      <button type="button" disabled={isUnreadable} onClick={() => setAsked(text)}>
        Preview
      </button>
      {request && (
        <DryRunPreview
          dryRun={dryRun}
          currency={currency}
          presentPrice={isEvm ? priceOf(transaction) : undefined}
        />
      )}
    </ActionDialog>
  )
}

const indent = (request: object) => indentJson(stringifyJson(request))

/** The service checks the fields, and says what is wrong with them. */
function parse(text: string): Request | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Request)
      : undefined
  } catch {
    return undefined
  }
}
