; Algebra

(set/union #{1} #{2}) ;=> #{1 2}
(set/union) ;=> #{}
(set/union #{1}) ;=> #{1}
(set/union #{1} #{1 2} #{3}) ;=> #{1 2 3}
(set/union #{1} nil) ;=> #{1}
(set/union nil #{1}) ;=> #{1}
(set/union [1 2] #{3}) ;=> #{1 2 3}
(set/union #{1} [2]) ;=> #{1 2}
(set/union #{1} 5) ;=! type_error
(set/intersection #{1 2} #{2}) ;=> #{2}
(set/intersection #{1 2} #{3}) ;=> #{}
(set/intersection #{1 2 3} #{2 3} #{3 4}) ;=> #{3}
(set/intersection #{1}) ;=> #{1}
(set/intersection #{1} nil) ;=> nil
(set/intersection nil #{1}) ;=> nil
(set/intersection #{1 2} [2 3]) ;=> #{2}
(set/intersection #{1} 5) ;=! type_error
(set/intersection) ;=! arity_error
(set/difference #{1 2} #{2}) ;=> #{1}
(set/difference #{1 2 3} #{1} #{2}) ;=> #{3}
(set/difference #{1} nil) ;=> #{1}
(set/difference nil #{1}) ;=> nil
(set/difference #{1}) ;=> #{1}
(set/difference #{1 2} [1]) ;=> #{2}
(set/difference #{1} #{1.0}) ;=> #{1}
(set/difference 5 #{1}) ;=! type_error
(set/difference) ;=! arity_error
(set/subset? #{1} #{1 2}) ;=> true
(set/subset? #{1 3} #{1 2}) ;=> false
(set/subset? #{} #{1}) ;=> true
(set/subset? #{1} #{1}) ;=> true
(set/subset? nil #{1}) ;=> true
(set/subset? [1] #{1 2}) ;=> true
(set/subset? 5 #{1}) ;=! type_error
(set/superset? #{1} #{2}) ;=> false
(set/superset? #{1 2} #{2}) ;=> true
(set/superset? #{1} #{}) ;=> true
(set/superset? #{} #{}) ;=> true
(set/superset? #{1} 5) ;=! type_error

; select, map-invert, rename-keys

(set/select odd? #{1 2}) ;=> #{1}
(set/select odd? #{}) ;=> #{}
(set/select :a #{{:a 1} {}}) ;=> #{{:a 1}}
(set/select odd? 5) ;=! type_error
(set/map-invert {:a 1}) ;=> {1 :a}
(set/map-invert {}) ;=> {}
(set/map-invert {:a "x" :b "y"}) ;=> {"x" :a "y" :b}
(set/map-invert 5) ;=! type_error
(set/rename-keys {:a 1} {:a :z}) ;=> {:z 1}
(set/rename-keys {:a 1 :b 2} {:a :b :b :a}) ;=> {:a 2 :b 1}
(set/rename-keys {:a 1} {:q :z}) ;=> {:a 1}
(set/rename-keys {} {:a :b}) ;=> {}
(set/rename-keys 5 {:a :b}) ;=! type_error

; Relations

(set/rename #{{:a 1}} {:a :z}) ;=> #{{:z 1}}
(set/rename #{} {:a :z}) ;=> #{}
(set/rename #{{:a 1 :b 2} {:a 3}} {:a :z}) ;=> #{{:z 3} {:b 2 :z 1}}
(set/project #{{:a 1 :b 2}} [:a]) ;=> #{{:a 1}}
(set/project #{{:a 1 :b 2} {:a 1 :b 3}} [:a]) ;=> #{{:a 1}}
(set/project #{} [:a]) ;=> #{}
(set/project #{{:a 1}} [:z]) ;=> #{{}}
(set/index #{{:a 1}} [:a]) ;=> {{:a 1} #{{:a 1}}}
(set/index #{{:a 1 :b 1} {:a 1 :b 2}} [:a]) ;=> {{:a 1} #{{:a 1 :b 1} {:a 1 :b 2}}}
(set/index #{} [:a]) ;=> {}
(set/join #{{:a 1 :b 2}} #{{:a 1 :c 3}}) ;=> #{{:a 1 :b 2 :c 3}}
(set/join #{{:a 1}} #{{:a 2}}) ;=> #{}
(set/join #{{:a 1}} #{{:b 2}}) ;=> #{{:a 1 :b 2}}
(set/join #{{:a 1 :b 2}} #{{:c 1 :d 3}} {:a :c}) ;=> #{{:a 1 :b 2 :c 1 :d 3}}
(set/join #{} #{{:a 1}}) ;=> #{}
(set/join 5 #{{:a 1}}) ;=! type_error
(map (fn [s] (set/union s #{0})) [#{1} #{2}]) ;=> [#{0 1} #{0 2}]
