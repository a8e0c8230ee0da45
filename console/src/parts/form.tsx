import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useState } from 'preact/hooks'
import { type FieldFault, type Fields, isAbout, readFields } from './fields.ts'

/** Hands the fault of a request down to the field that it is about. */
export const FaultContext = createContext<FieldFault | undefined>(undefined)

/** Keeps what a person writes into a form. */
export function useFields(initial: Readonly<Record<string, string>> = {}): Fields {
  const [values, setValues] = useState(initial)
  return {
    ...readFields(values),
    set: (path, value) => setValues((known) => ({ ...known, [path]: value })),
  }
}

interface FieldProps {
  readonly fields: Fields
  /** The path of the field in the request, by which the service names it. */
  readonly path: string
  readonly label: string
  /** Says in a sentence what belongs here, or what is so without it. */
  readonly hint?: ComponentChildren
  readonly isRequired?: boolean
}

interface TextFieldProps extends FieldProps {
  readonly placeholder?: string
  /** `password`: it is hidden, and the browser does not keep it. */
  readonly type?: 'text' | 'password' | 'datetime-local'
  /** More than one: a text of several lines. */
  readonly rows?: number
}

/** A field for a text, an amount or an address. */
export function TextField({ fields, type = 'text', rows = 1, placeholder, ...rest }: TextFieldProps) {
  const { path, isRequired = false } = rest
  const input = {
    name: path,
    value: fields.values[path] ?? '',
    required: isRequired,
    spellcheck: false,
    autocomplete: type === 'password' ? 'new-password' : 'off',
    placeholder,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      fields.set(path, currentTarget.value),
  }
  return (
    <Field {...rest}>
      {(control) =>
        rows > 1 ? (
          <textarea {...control} {...input} rows={rows} />
        ) : (
          <input {...control} {...input} type={type} />
        )
      }
    </Field>
  )
}

interface FileFieldProps extends FieldProps {
  /** The endings of such files. */
  readonly accept: string
}

/** A field for the text of a file. It is not shown, so it may hold a secret. */
export function FileField({ fields, accept, ...rest }: FileFieldProps) {
  const { path, isRequired = false } = rest
  const read = async (file: File | undefined) => fields.set(path, (await file?.text()) ?? '')
  return (
    <Field {...rest}>
      {(control) => (
        <input
          {...control}
          name={path}
          type="file"
          accept={accept}
          required={isRequired}
          onChange={(event) => read(event.currentTarget.files?.[0])}
        />
      )}
    </Field>
  )
}

interface SelectFieldProps extends FieldProps {
  /** Values with their words. */
  readonly of: readonly (readonly [value: string, words: string])[]
}

/** A field for one of a few values. */
export function SelectField({ fields, of, ...rest }: SelectFieldProps) {
  const { path } = rest
  return (
    <Field {...rest}>
      {(control) => (
        <select
          {...control}
          name={path}
          value={fields.values[path] ?? of[0]?.[0]}
          onChange={(event) => fields.set(path, event.currentTarget.value)}
        >
          {of.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A field for yes or no. */
export function CheckField({ fields, path, label, hint }: FieldProps) {
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          name={path}
          checked={fields.values[path] === 'true'}
          onChange={(event) => fields.set(path, event.currentTarget.checked ? 'true' : '')}
        />
        {label}
      </label>
      {hint && <div class="hint">{hint}</div>}
      <Fault path={path} />
    </div>
  )
}

/** Says what is wrong with a field that consists of several controls. */
export function Fault({ path }: { readonly path: string }) {
  const fault = useContext(FaultContext)
  return fault !== undefined && isAbout(fault, path) ? <div class="hint bad">{fault.message}</div> : null
}

interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string
  readonly 'aria-invalid': boolean
}

interface FieldFrameProps extends Omit<FieldProps, 'fields'> {
  readonly children: (control: ControlProps) => ComponentChildren
}

/** The label, the hint and the fault of a field. */
function Field({ path, label, hint, isRequired = false, children }: FieldFrameProps) {
  const id = useId()
  const fault = useContext(FaultContext)
  const isAtFault = fault !== undefined && isAbout(fault, path)
  return (
    <div class="field">
      <label for={id}>
        {label}
        {!isRequired && <span class="muted"> (optional)</span>}
      </label>
      {children({ id, 'aria-describedby': `${id}-hint`, 'aria-invalid': isAtFault })}
      <div id={`${id}-hint`} class={isAtFault ? 'hint bad' : 'hint'}>
        {isAtFault ? fault.message : hint}
      </div>
    </div>
  )
}
