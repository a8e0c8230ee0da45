import type { Schemas } from '../../../clients/typescript/src/index.ts'
import type { Currency } from '../format/amounts.ts'
import type { Fields } from '../parts/fields.ts'
import { CheckField, SelectField, TextField } from '../parts/form.tsx'
import { type RuledNetworks, unitIn, WEEKDAYS } from './rules.ts'

interface RulesFieldsProps {
  readonly fields: Fields
  /** Where the rules stand in the request: `rules` of an API key, `policies.rules` of a relayer. */
  readonly path: string
  readonly networks: RuledNetworks
  /** The rules that exist, if they are changed. */
  readonly present?: Schemas['SpendingRules'] | undefined
}

/** The fields of the rules for what may be spent. Every rule that is left empty forbids nothing. */
export function RulesFields({ fields, path, networks, present }: RulesFieldsProps) {
  const count = Number(fields.values[`${path}.limits`] ?? 0)
  const setCount = (limits: number) => fields.set(`${path}.limits`, String(limits))
  return (
    <fieldset>
      <legend>Rules</legend>
      <TextField
        fields={fields}
        path={`${path}.receivers`}
        label="Allowed receivers"
        rows={2}
        hint={present?.receivers?.length === 0 ? NONE : 'One address per line. Leave empty for any receiver.'}
      />
      <TextField
        fields={fields}
        path={`${path}.contracts`}
        label="Allowed contracts"
        rows={2}
        hint={present?.contracts?.length === 0 ? NONE : 'One address per line. Leave empty for any contract.'}
      />
      {Array.from({ length: count }, (_, index) => (
        <LimitFields key={index} fields={fields} path={`${path}.limits[${index}]`} networks={networks} />
      ))}
      <div class="buttons">
        <button type="button" onClick={() => setCount(count + 1)}>
          Add a limit
        </button>
        {count > 0 && (
          <button type="button" onClick={() => setCount(count - 1)}>
            Remove the last limit
          </button>
        )}
      </div>
      <SelectField
        fields={fields}
        path={`${path}.require_approval`}
        label="Require approval"
        of={present?.require_approval ? [PRESENT, ...APPROVALS] : APPROVALS}
        isRequired
      />
      {fields.text(`${path}.require_approval`) === 'above' && (
        <AmountFields fields={fields} path={`${path}.require_approval.above[0]`} networks={networks} />
      )}
      <HoursFields fields={fields} path={`${path}.hours`} />
      <CheckField fields={fields} path={`${path}.idempotency`} label="Require an Idempotency-Key" />
    </fieldset>
  )
}

/** The hint of a list that exists and has no entry. */
const NONE = 'One address per line. None is allowed now; leave empty to keep it so.'

const APPROVALS = [
  ['', 'none is needed'],
  ['every', 'for every transaction'],
  ['above', 'above an amount'],
  ['new', 'for new receivers'],
] as const

/** The approval of rules that exist. */
const PRESENT = ['present', 'as it is now'] as const

interface HoursFieldsProps {
  readonly fields: Fields
  readonly path: string
}

function HoursFields({ fields, path }: HoursFieldsProps) {
  return (
    <>
      <SelectField fields={fields} path={path} label="Sending is allowed" of={HOURS} isRequired />
      {fields.text(path) !== undefined && (
        <fieldset>
          <legend>Hours, in UTC</legend>
          <TextField fields={fields} path={`${path}.from`} label="From" placeholder="08:00" isRequired />
          <TextField
            fields={fields}
            path={`${path}.to`}
            label="Until"
            placeholder="18:30"
            hint="An end before the start is on the next day."
            isRequired
          />
          <div class="checks">
            {WEEKDAYS.map((day) => (
              <CheckField
                key={day}
                fields={fields}
                path={`${path}.days ${day}`}
                label={`${day.charAt(0).toUpperCase()}${day.slice(1)}`}
              />
            ))}
          </div>
          <div class="hint">Every day if none is chosen.</div>
        </fieldset>
      )}
    </>
  )
}

const HOURS = [
  ['', 'at any time'],
  ['some', 'only at these hours …'],
] as const

const PERIODS = [
  ['transaction', 'one transaction'],
  ['hour', 'an hour'],
  ['day', 'a day'],
  ['month', '30 days'],
] as const satisfies readonly (readonly [Schemas['SpendingLimit']['per'], string])[]

function LimitFields({ fields, path, networks }: Omit<RulesFieldsProps, 'present'>) {
  return (
    <fieldset>
      <legend>Limit</legend>
      <SelectField fields={fields} path={`${path}.per`} label="Per" of={PERIODS} isRequired />
      <AmountFields fields={fields} path={path} networks={networks} />
      <TextField
        fields={fields}
        path={`${path}.fees`}
        label={`Fees, ${unitOf(unitIn(fields, { path, networks, ofFees: true }))}`}
      />
      <TextField fields={fields} path={`${path}.count`} label="Number of transactions" />
    </fieldset>
  )
}

function AmountFields({ fields, path, networks }: Omit<RulesFieldsProps, 'present'>) {
  return (
    <>
      {networks.kind === 'any' && (
        <SelectField
          fields={fields}
          path={`${path}.network`}
          label="On"
          of={[['', 'every network, each by itself'], ...networks.ids.map((id) => [id, id] as const)]}
        />
      )}
      <TextField
        fields={fields}
        path={`${path}.asset`}
        label="Asset"
        hint="The address of a token, or CODE:ISSUER. Leave empty for the native currency."
      />
      <TextField
        fields={fields}
        path={`${path}.value`}
        label={`Value, ${unitOf(unitIn(fields, { path, networks }))}`}
      />
    </>
  )
}

/** Without a currency, the decimals of the unit for people are unknown, so the amount is written as the API has it. */
function unitOf(currency: Currency | undefined): string {
  return currency === undefined ? 'in the smallest unit' : `in ${currency.symbol}`
}
