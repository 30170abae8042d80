/** A component that is drawn again only when one of its properties changes: it reads no signals. */
import { Component, type ComponentChild, type ComponentClass } from 'preact';

/** `draw` as a component that keeps what it drew while its properties are the same. */
export function whenChanged<Props extends object>(
  draw: (props: Props) => ComponentChild,
): ComponentClass<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = this.props as Props;
      const names = Object.keys(next) as (keyof Props)[];
      return names.some((name) => next[name] !== before[name]);
    }

    override render(props: Props): ComponentChild {
      return draw(props);
    }
  };
}
