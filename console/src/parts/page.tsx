import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isTyping } from './is-typing.ts'

interface PageProps {
  readonly title: string
  /** Stands beside the title: a status, a short fact. */
  readonly aside?: ComponentChildren
  /** Buttons of the whole page. */
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** The frame of a page. A screen reader hears the title when the page comes, unless its person types by then. */
export function Page({ title, aside, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Relayer console`
    if (!isTyping()) heading.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [title])
  return (
    <>
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {aside}
        <div class="actions">{actions}</div>
      </div>
      {children}
    </>
  )
}

interface PanelProps {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** A titled part of a page. */
export function Panel({ title, actions, children }: PanelProps) {
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{title}</h2>
        <div class="actions">{actions}</div>
      </div>
      {children}
    </section>
  )
}
