import { useState } from 'preact/hooks'
import { stringifyJson } from '../../../../clients/typescript/src/exact-json.ts'
import type { Body, Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { transferIn } from '../../format/solana-transfers.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { DryRunPreview } from '../../parts/dry-run-preview.tsx'
import { type Fields, faultOf } from '../../parts/fields.ts'
import { FaultContext, SelectField, TextField, useFields } from '../../parts/form.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import type { ChangeDialogProps } from './change-dialogs.tsx'
import {
  filledForm,
  paymentOf,
  priceOf,
  type ReplaceForm,
  replaceFormOf,
  requestOf,
  type SolanaTransaction,
} from './replacement.ts'
import { useDryRun } from './use-dry-run.ts'

type Request = Body<'replaceTransaction'>

interface ReplaceDialogProps extends ChangeDialogProps {
  /** The name of its network, which requests on Stellar name. */
  readonly network: string
}

/** Asks for the whole new content, and shows what it would do before it is sent. */
export function ReplaceDialog({ transaction, currency, network, ...rest }: ReplaceDialogProps) {
  const { client } = useWorkplace().session
  const own = replaceFormOf(transaction)
  const [form, setForm] = useState<ReplaceForm>(own)
  const fields = useFields(filledForm(transaction, currency))
  const [asked, setAsked] = useState<Request>()
  const [error, setError] = useState<unknown>()
  const written = tryTo(() => requestOf(fields, { transaction, form, currency, network }))
  const isAsked =
    asked !== undefined && written !== undefined && stringifyJson(asked) === stringifyJson(written)
  const dryRun = useDryRun(transaction, isAsked ? asked : undefined)
  const preview = () => {
    setError(undefined)
    try {
      setAsked(requestOf(fields, { transaction, form, currency, network }))
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <ActionDialog
      {...rest}
      title="Replace"
      confirm="Replace it"
      isReady={isAsked && dryRun.value?.accepted === true}
      act={async () =>
        asked && (await client.transactions.replace(transaction.relayer_id, transaction.id, asked))
      }
    >
      <FaultContext.Provider value={faultOf(error ?? dryRun.error)}>
        <ContentFields fields={fields} form={form} transaction={transaction} currency={currency} />
      </FaultContext.Provider>
      <div class="buttons">
        <button type="button" onClick={preview}>
          Preview
        </button>
        {own !== 'json' && (
          <button type="button" class="quiet" onClick={() => setForm(form === 'json' ? own : 'json')}>
            {form === 'json' ? 'Back to the form' : 'Edit as JSON'}
          </button>
        )}
      </div>
      {isAsked && (
        <DryRunPreview
          dryRun={dryRun}
          currency={currency}
          presentPrice={transaction.network_type === 'evm' ? priceOf(transaction) : undefined}
        />
      )}
    </ActionDialog>
  )
}

function tryTo<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

interface ContentFieldsProps {
  readonly fields: Fields
  readonly form: ReplaceForm
  readonly transaction: Transaction
  readonly currency: Currency
}

function ContentFields({ fields, form, transaction, currency }: ContentFieldsProps) {
  switch (form) {
    case 'evm':
      return <EvmFields fields={fields} currency={currency} />
    case 'solana':
      return transaction.network_type === 'solana' ? (
        <SolanaFields fields={fields} transaction={transaction} currency={currency} />
      ) : null
    case 'stellar-payment':
      return <PaymentFields fields={fields} transaction={transaction} currency={currency} />
    case 'json':
      return (
        <TextField
          fields={fields}
          path="json"
          label="New request"
          rows={10}
          hint="As in the API. It replaces the whole content."
          isRequired
        />
      )
  }
}

function EvmFields({ fields, currency }: Omit<ContentFieldsProps, 'form' | 'transaction'>) {
  return (
    <>
      <TextField
        fields={fields}
        path="to"
        label="To"
        hint="0x and 40 hexadecimal digits. Leave empty to create a contract."
      />
      <TextField fields={fields} path="value" label={`Value, in ${currency.symbol}`} isRequired />
      <TextField fields={fields} path="data" label="Data" rows={2} hint="0x and hexadecimal digits." />
      <TextField fields={fields} path="gas_limit" label="Gas limit" hint="Leave empty to estimate." />
      <SelectField fields={fields} path="speed" label="Price" of={PRICES} isRequired />
      {fields.text('speed') === 'own' && (
        <>
          <TextField fields={fields} path="max_fee_per_gas" label="Maximum gas price, in gwei" isRequired />
          <TextField
            fields={fields}
            path="max_priority_fee_per_gas"
            label="Priority fee, in gwei"
            isRequired
          />
        </>
      )}
    </>
  )
}

const SPEEDS = [
  ['fastest', 'of the market: fastest'],
  ['fast', 'of the market: fast'],
  ['average', 'of the market: average'],
  ['safeLow', 'of the market: safeLow'],
] as const

/** The speeds of the contract, and a price of one's own. */
const PRICES = [...SPEEDS, ['own', 'my own']] as const

interface SolanaFieldsProps {
  readonly fields: Fields
  readonly transaction: SolanaTransaction
  readonly currency: Currency
}

function SolanaFields({ fields, transaction: { instructions }, currency }: SolanaFieldsProps) {
  return (
    <>
      {instructions === undefined && (
        <TextField
          fields={fields}
          path="transaction"
          label="Transaction"
          rows={4}
          hint="In wire format, base64-encoded. The service sets a new blockhash."
          isRequired
        />
      )}
      {instructions?.map((instruction, index) => (
        <InstructionFields
          // Nothing tells two equal instructions apart but their position.
          key={index}
          fields={fields}
          instruction={instruction}
          path={`instructions[${index}]`}
          currency={currency}
        />
      ))}
      <SelectField fields={fields} path="speed" label="Price" of={SPEEDS} isRequired />
    </>
  )
}

interface InstructionFieldsProps {
  readonly fields: Fields
  readonly instruction: Schemas['SolanaInstruction']
  readonly path: string
  readonly currency: Currency
}

function InstructionFields({ fields, instruction, path, currency }: InstructionFieldsProps) {
  const transfer = transferIn(instruction)
  if (transfer === undefined)
    return (
      <fieldset>
        <legend>Instruction</legend>
        <TextField fields={fields} path={`${path}.program_id`} label="Program" isRequired />
        <TextField
          fields={fields}
          path={`${path}.accounts`}
          label="Accounts"
          rows={3}
          hint="In order, one per line, followed by “signer” and “writable” where they apply."
        />
        <TextField fields={fields} path={`${path}.data`} label="Data" rows={2} hint="In base64." />
      </fieldset>
    )
  const { mint, receiver } = transfer
  return (
    <fieldset>
      <legend>{mint === undefined ? 'Payment' : 'Token payment'}</legend>
      <TextField
        fields={fields}
        path={`${path}.accounts[${receiver}].pubkey`}
        label="To"
        hint={mint !== undefined && `A token account of the mint ${mint}.`}
        isRequired
      />
      <TextField
        fields={fields}
        path={`${path}.data`}
        label={`Amount, in ${mint === undefined ? currency.symbol : 'tokens'}`}
        isRequired
      />
    </fieldset>
  )
}

function PaymentFields({ fields, transaction, currency }: Omit<ContentFieldsProps, 'form'>) {
  const asset = paymentOf(transaction)?.asset
  const symbol = asset === undefined || asset.type === 'native' ? currency.symbol : asset.code
  return (
    <>
      <TextField fields={fields} path="operations[0].destination" label="To" isRequired />
      <TextField fields={fields} path="operations[0].amount" label={`Amount, in ${symbol}`} isRequired />
      <TextField
        fields={fields}
        path="max_fee"
        label={`Maximum fee, in ${currency.symbol}`}
        hint="A replacement bids at least ten times the current bid."
      />
    </>
  )
}
