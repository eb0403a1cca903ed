package javax.annotation;

/** The annotation of generated classes, which the runtime of Java had until version 8, and which no package here has. */
public @interface Generated {
    String[] value();

    String date() default "";

    String comments() default "";
}
